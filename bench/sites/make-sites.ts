/** Made-up knowledge of many sites, as lines of an import; the same for the same count. */
import { createHash } from "node:crypto";

const browsers = [
  { stealth: false, headless: true },
  { stealth: true, headless: true },
  { stealth: true, headless: false },
].map((settings) => ({ ...settings, gpu: false, viewport: { width: 1920, height: 1080 } }));

const proxies = [
  undefined,
  { type: "isp", isp: { country: "US" } },
  { type: "residential", residential: { country: "DE" } },
];

const recipes = proxies.flatMap((proxy) => browsers.map((browser) => ({ browser, ...(proxy && { proxy }) })));

const kinds = ["shop", "news", "bank", "travel"];

/** The URL that the n-th site answers: of its page, its host or its domain. */
export const urlOf = (n: number): string => {
  const hex = createHash("sha256").update(String(n)).digest("hex");
  const domain = `${hex.slice(0, 6 + (n % 9))}-${kinds[n % kinds.length]}.example`;
  return `https://www.${domain}/${hex.slice(20, 26)}/${hex.slice(30, 42)}`;
};

const placeOf = (n: number): { scope: string; target: string } => {
  const url = urlOf(n);
  const host = new URL(url).hostname;
  if (n % 3 === 0) return { scope: "exact", target: url };
  return n % 3 === 1 ? { scope: "host", target: host } : { scope: "domain", target: host.replace(/^www\./, "") };
};

/** The n-th site: one to four configurations were tried, and the last of them works. */
export const siteLine = (n: number): string => {
  const hash = createHash("sha256").update(`counts ${n}`).digest();
  const tried = 1 + (n % 4);
  const configurations = recipes.slice(0, tried).map((recipe, index) => {
    const chance = hash[index] ?? 0;
    const works = index === tried - 1;
    const observedAt = new Date(Date.UTC(2026, 0, 1) + chance * 3_600_000).toISOString();
    return {
      ...recipe,
      evidence: [
        {
          origin: "another-cluster",
          source: "trial",
          accessed: works ? 3 + (chance % 5) : 0,
          blocked: works ? chance % 2 : 3,
          inconclusive: chance % 3,
          runCount: 1 + (chance % 3),
          lastObservedAt: observedAt,
        },
      ],
    };
  });
  return JSON.stringify({
    ...placeOf(n),
    configurations,
    ...(n % 5 === 0 && { guidance: "A consent dialog covers the page." }),
  });
};
