/** Sites that let some browsers in and others not, each by its own signs. */
import { answer, denied, goods, html, plenty, type Site } from "./site.ts";

const challenge = (script: string): string =>
  html(
    "Just a moment...",
    `<h1>Checking your browser</h1><p>This takes a few seconds.</p><script src="/cdn-cgi/challenge-platform/main.js"></script><script>${script}</script>`,
  );

const challengeHeaders = { "cf-mitigated": "challenge", server: "cloudflare" };

const passed = /(?:^|; )passed=1/;

/** Asks the browser itself, and lets in only one whose answer is `true` to this expression. */
const askingScripts =
  (expression: string): Site =>
  ({ path, request }, response) => {
    if (path === "/denied") return answer(response, denied, 403);
    if (passed.test(request.headers.cookie ?? "")) return answer(response, goods);
    answer(
      response,
      html(
        "Harbour Lamps",
        `<script>if (${expression}) { document.cookie = "passed=1"; location.reload(); } else location.replace("/denied");</script>`,
      ),
    );
  };

const captcha = (port: number): string =>
  html(
    "Are you a person?",
    `<h1>One more step</h1><p>Please confirm that you are a person.</p>
<iframe src="http://captcha-frames.example:${port}/recaptcha/api2/anchor?ar=1&k=site&hl=en&size=normal" width="300" height="80" title="reCAPTCHA"></iframe>`,
  );

const isHeadless = (userAgent: string | undefined): boolean => /headless/i.test(userAgent ?? "");

const busy = html("Checking", "<p>Checking.</p>");

/** Refusals that lead on to `/end`, each by another means. */
const leadingBy: Readonly<Record<string, Site>> = {
  "/header": (_, response) => answer(response, busy, 403, { refresh: "1; url=/end" }),
  "/meta": (_, response) => answer(response, `${busy}<meta http-equiv="refresh" content="1; url=/end">`, 403),
  "/frame": (_, response) => answer(response, `${busy}<iframe src="/inside"></iframe>`, 403),
  "/inside": (_, response) =>
    answer(response, "<script>setTimeout(() => { parent.location = '/end'; }, 1000)</script>"),
  "/attribute": (_, response) =>
    answer(response, `<body onload="setTimeout(() => { location = '/end'; }, 1000)">Checking.</body>`, 403),
  // Nothing of it is left in the page by the time that it is read.
  "/vanished": (_, response) =>
    answer(
      response,
      `<body><script>setTimeout(() => { location = "/end"; }, 1500); document.body.textContent = "Checking.";</script></body>`,
      403,
    ),
  "/end": (_, response) => answer(response, goods),
};

const byPath: Readonly<Record<string, Site>> = {
  "/denied": (_, response) => answer(response, denied, 403),
  "/busy": (_, response) =>
    answer(response, html("Too Many Requests", "<h1>Too Many Requests</h1>"), 429, { "retry-after": "60" }),
  "/challenge": (_, response) => answer(response, challenge(""), 403, challengeHeaders),
  "/captcha": ({ port }, response) => answer(response, captcha(port)),
  "/members": ({ request }, response) =>
    isHeadless(request.headers["user-agent"]) ? answer(response, denied, 403) : answer(response, goods),
};

/** By their names below `.example`. */
export const sites: Readonly<Record<string, Site>> = {
  "open-shop": (_, response) => answer(response, goods),
  "no-headless": ({ request }, response) =>
    isHeadless(request.headers["user-agent"]) || !request.headers["accept-language"]
      ? answer(response, denied, 403)
      : answer(response, goods),
  "no-drivers": askingScripts("navigator.webdriver === false"),
  "no-data-centres": ({ place }, response) => (place ? answer(response, goods) : answer(response, denied, 403)),
  "only-germany": ({ place }, response) =>
    place === "DE"
      ? answer(response, goods)
      : answer(response, html("Not available", "<h1>This site is not available in your country.</h1>"), 451),
  "hard-wall": (_, response) =>
    answer(response, challenge("setTimeout(() => location.reload(), 2500);"), 403, challengeHeaders),
  "soft-wall": ({ request }, response) =>
    passed.test(request.headers.cookie ?? "")
      ? answer(response, goods)
      : answer(
          response,
          challenge('setTimeout(() => { document.cookie = "passed=1"; location.reload(); }, 2000);'),
          403,
          challengeHeaders,
        ),
  "stranded-shop": (_, response) =>
    // Nothing listens there.
    answer(
      response,
      challenge('setTimeout(() => location.replace("http://dead.example:1/"), 2000);'),
      403,
      challengeHeaders,
    ),
  "captcha-shop": ({ port }, response) => answer(response, captcha(port)),
  "captcha-frames": (_, response) => answer(response, html("reCAPTCHA", "<p>I'm not a robot</p>")),
  "unusual-traffic": (_, response) =>
    answer(
      response,
      html("Sorry...", "<h1>Our systems have detected unusual traffic from your computer network.</h1>"),
    ),
  "soft-refusal": ({ request }, response) =>
    answer(
      response,
      isHeadless(request.headers["user-agent"])
        ? html("Harbour Lamps", "<h1>Hello!</h1><p>We noticed automated requests from your network.</p>")
        : goods,
    ),
  "own-gate": ({ request }, response) =>
    isHeadless(request.headers["user-agent"])
      ? answer(response, goods, 200, { "x-gate-decision": "deny" })
      : answer(response, goods),
  "consent-first": (_, response) =>
    answer(
      response,
      html(
        "Before you continue",
        '<div role="dialog"><h1>Before you continue</h1><p>We use cookies and data. Do you accept?</p><button>Accept all</button><button>Reject all</button></div>',
      ),
    ),
  "slow-shop": (_, response) => void setTimeout(() => answer(response, goods), 3000),
  "flaky-shop": ({ nth }, response) => (nth % 2 === 0 ? answer(response, goods) : answer(response, denied, 403)),
  "moved-shop": ({ port }, response) =>
    void response.writeHead(301, { location: `http://open-shop.example:${port}/moved` }).end(),
  "leads-inside": (_, response) => void response.writeHead(302, { location: "http://10.255.255.254/" }).end(),
  "broken-shop": (_, response) => answer(response, html("Error", "<h1>Internal Server Error</h1>"), 500),
  // As a wall answers for a host that it does not reach.
  "posing-shop": (_, response) =>
    answer(response, html("Error", "<h1>Bad Gateway</h1>"), 502, { "x-browserpool-refused-by": "host" }),
  "failing-shop": (_, response) => answer(response, html("Error", "<h1>Internal Server Error</h1>"), 500),
  "empty-error": (_, response) => void response.writeHead(500).end(),
  "by-path": (asked, response) => (byPath[asked.path] ?? ((_, other) => answer(other, goods)))(asked, response),
  "leading-by": (asked, response) => leadingBy[asked.path]?.(asked, response),
  "late-shop": (_, response) =>
    answer(
      response,
      html("Harbour Lamps", `<script>setTimeout(() => { document.body.innerHTML = "${plenty}"; }, 1500);</script>`),
    ),
  "blank-shop": (_, response) => answer(response, html("", "")),
  "hopping-shop": ({ path }, response) =>
    path === "/end"
      ? answer(response, goods)
      : answer(response, html("Wait", `<script>setTimeout(() => location.replace("/end"), 3000);</script>`)),
  "polite-shop": ({ path }, response) =>
    path === "/robots.txt"
      ? void response
          .writeHead(200, { "content-type": "text/plain" })
          .end("User-agent: *\nDisallow: /private\n\nUser-agent: otherbot\nDisallow: /\n")
      : answer(response, goods),
};
