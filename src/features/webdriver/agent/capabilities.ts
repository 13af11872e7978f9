/** What a client asks for with `session.new`, matched with the one browser that there is. */
import { z } from "zod";

const maxAlternatives = 64;

const Capabilities = z.looseObject({
  acceptInsecureCerts: z.boolean().optional(),
  browserName: z.string().optional(),
  platformName: z.string().optional(),
  unhandledPromptBehavior: z.union([z.string(), z.record(z.string(), z.unknown())]).optional(),
});
type Capabilities = z.infer<typeof Capabilities>;

const Request = z.object({
  capabilities: z.object({
    alwaysMatch: Capabilities.default({}),
    firstMatch: z.array(Capabilities).min(1).max(maxAlternatives).default([{}]),
  }),
});

const browserNames = ["chrome", "chromium", "chrome-headless-shell"];

const whyNot = ({ browserName, platformName, ...rest }: Capabilities): string | undefined => {
  if (browserName !== undefined && !browserNames.includes(browserName.toLowerCase())) return "the browser is chrome";
  if (platformName !== undefined && !["linux", "any"].includes(platformName.toLowerCase()))
    return "the platform is linux";
  // To say yes and to set none would have the client believe in it.
  return "proxy" in rest ? "the browser runs already; browser.createUserContext takes a proxy" : undefined;
};

type Matched = { capabilities: Capabilities } | { refused: "invalid argument" | "session not created"; why: string };

/** The first alternative that this browser can be, or why none is. */
export const matchCapabilities = (params: unknown): Matched => {
  const parsed = Request.safeParse(params);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return { refused: "invalid argument", why: `${issue?.path.join(".")}: ${issue?.message}` };
  }
  const { alwaysMatch, firstMatch } = parsed.data.capabilities;
  let why = "";
  for (const alternative of firstMatch) {
    const twice = Object.keys(alternative).find((name) => Object.hasOwn(alwaysMatch, name));
    if (twice) return { refused: "invalid argument", why: `${twice} is in alwaysMatch and in firstMatch` };
    const capabilities = { ...alwaysMatch, ...alternative };
    const refused = whyNot(capabilities);
    if (!refused) return { capabilities };
    why ||= refused;
  }
  return { refused: "session not created", why };
};
