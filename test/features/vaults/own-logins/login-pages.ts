/**
 * A site with logins of different make, each under a path of its own. It lets `ann` with the password `geheim-{kind}` in, and
 * remembers what it was sent.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { totpCode } from "../../../../src/features/vaults/logins/rules/totp.ts";
import { closingPage, consentPage, ssoPage } from "./sso-pages.ts";

export const totpSecret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
export const passwordOf = (kind: string): string => `geheim-${kind}`;
const user = "ann";

export type LoginPages = AsyncDisposable & {
  /** The page where the login of a kind begins. */
  loginUrl(kind: string): string;
  /** What was sent to a kind: the path and the fields of each form. */
  sent: { kind: string; path: string; host: string; fields: Record<string, string> }[];
  /** Ends all sessions of a kind. */
  endSessions(kind: string): void;
  /** Approves the login of a kind on the other device. */
  approve(kind: string): void;
  /** Lets forms of a kind wait for their answer until it is called. */
  hold(kind: string): () => void;
  /** How often the inside was shown. */
  entered(kind: string): number;
};

type Context = {
  kind: string;
  path: string;
  /** The URL under which the kind is. */
  base: string;
  fields: Record<string, string>;
  isPost: boolean;
  cookie: string;
  response: ServerResponse;
};

const page = (body: string, title = "Shop"): string => `<!doctype html><title>${title}</title><h1>${title}</h1>${body}`;

const usual = `<form method=post action=in>
  <label>User name <input name=username autocomplete=username></label>
  <label>Password <input name=password type=password autocomplete=current-password></label>
  <a href=forgot>Forgot password?</a> <button type=submit>Sign in</button></form>`;

const passwordStep = `<form method=post action=in><input name=username value=ann autocomplete=username readonly>
  <input name=password type=password autocomplete=current-password><button>Sign in</button></form>`;

const codeStep = `<p>Enter the code of your authenticator app.</p><form method=post action=code>
  <label>Code <input name=code inputmode=numeric maxlength=6></label><button>Verify</button></form>`;

const boxes = `<p>Enter the 6-digit code.</p><form method=post action=code id=f><input type=hidden name=code>
  ${Array.from({ length: 6 }, (_, i) => `<input class=box maxlength=1 inputmode=numeric aria-label="Digit ${i + 1}">`).join("")}</form>
  <script>
    const all = [...document.querySelectorAll(".box")];
    for (const [i, box] of all.entries()) box.addEventListener("input", () => {
      if (box.value && all[i + 1]) all[i + 1].focus();
      if (all.every((each) => each.value)) {
        document.forms[0].elements.code.value = all.map((each) => each.value).join("");
        document.forms[0].submit();
      }
    });
  </script>`;

/** Sends the two fields with a script. `after`: what it does when the site has let in. */
const script = (scope: string, after: string): string => `
  const send = async () => {
    const [user, password] = [...${scope}.querySelectorAll("input")].map((input) => input.value);
    const answer = await fetch("in", { method: "POST", body: new URLSearchParams({ username: user, password }) });
    if (answer.ok) { ${after} } else ${scope}.querySelector(".note").textContent = "Incorrect user name or password";
  };`;

const go = `location.href = "home";`;

const pages: Record<string, string> = {
  "two-steps": `<form method=post action=user><label>E-mail or user name <input name=username></label><button>Next</button></form>`,
  shadow: `<shop-login></shop-login><script>
    customElements.define("shop-login", class extends HTMLElement {
      connectedCallback() {
        const root = this.attachShadow({ mode: "open" });
        root.innerHTML = '<input aria-label=User><input type=password aria-label=Password><p class=note></p><button>Log in</button>';
        ${script("root", go)}
        root.querySelector("button").addEventListener("click", send);
      }
    });</script>`,
  frame: `<p>Welcome</p><iframe src=framed width=400 height=300></iframe>`,
  masked: `<form method=post action=in><label>Phone <input name=username type=tel id=phone></label>
    <label>Password <input name=password type=password></label><button>Sign in</button></form>
    <script>phone.addEventListener("input", () => {
      const digits = phone.value.replace(/\\D/g, "").slice(0, 10);
      phone.value = digits.replace(/^(\\d{3})(\\d{3})(\\d+)$/, "($1) $2-$3");
    });</script>`,
  remember: usual.replace("<a ", "<label><input type=checkbox name=remember> Remember me</label> <a "),
  captcha: `${usual.replace("<form ", '<form onsubmit="if (!window.isSolved) event.preventDefault()" ')}
    <div class="g-recaptcha" style="width: 300px; height: 78px; border: 1px solid" onclick="window.isSolved = true">I am not a robot</div>`,
  slow: `<div id=app role=progressbar style="width: 50px; height: 20px">Loading…</div><script>
    setTimeout(() => {
      app.removeAttribute("role");
      app.innerHTML = '<input placeholder=Username><input type=password placeholder=Password><p class=note></p><button>Log in</button>';
      ${script("app", `app.innerHTML = "<h2>Your orders</h2><p>There are none.</p><button>Sign out</button>";`)}
      app.querySelector("button").addEventListener("click", () => setTimeout(send, 2500));
    }, 2000);</script>`,
  bare: `<form method=post action=in><input name=username><input name=password type=password><input type=submit value=OK></form>`,
  locks: usual,
  wrong: usual,
  labels: `<form method=post action=in><label for=x7>Your account name</label><input id=x7 name=username>
    <label for=x8>Your secret</label><input id=x8 name=password type=password><button>Go on</button></form>`,
  untyped: `<form method=post action=in><div>Login</div><input name=username><div>Password</div><input name=password type=password>
    <button>Continue</button></form><form action=search><input name=q type=search><button>Search</button></form>`,
  "by-script": `<div id=box><input placeholder=User><input type=password placeholder=Password><p class=note></p>
    <div role=button tabindex=0 id=go>Log in</div></div><script>${script("box", go)} document.querySelector("#go").onclick = send;</script>`,
};

const choice = `<h2>Verify your identity</h2><p>Choose how to get a code.</p><form method=post action=choose>
  <button name=by value=sms>Text message to ••• 42</button><button name=by value=email>E-mail to a•••@example.com</button></form>`;

const locked = "<p>Your account is locked. Too many failed attempts.</p>";

/** What a kind asks for after the password; undefined: nothing. */
const secondSteps: Record<string, string> = {
  "otp-one": codeStep,
  "otp-boxes": boxes,
  choice,
  push: `<p>Check your phone: approve the sign-in request that we sent to it.</p><script>
    setInterval(async () => { if ((await fetch("approved")).ok) location.href = "home"; }, 300);</script>`,
};

const isRight = ({ kind, fields }: Context): boolean =>
  (fields.username ?? "").replace(/\D/g, "") === "5551234567" || fields.username === user
    ? fields.password === passwordOf(kind)
    : false;

const isCode = ({ kind, fields }: Context): boolean =>
  kind === "choice"
    ? fields.code === "424242"
    : [-30_000, 0, 30_000].some((ms) => totpCode(totpSecret, Date.now() + ms)?.code === fields.code);

const redirect = (response: ServerResponse, to: string, headers: Record<string, string> = {}): void =>
  void response.writeHead(303, { location: to, ...headers }).end();

const show = (response: ServerResponse, body: string, status = 200): void =>
  void response.writeHead(status, { "content-type": "text/html; charset=utf-8" }).end(page(body));

const letIn = ({ kind, base, response }: Context, generation: number): void =>
  redirect(response, `${base}/home`, { "set-cookie": `in=${generation}; Path=/${kind}; Max-Age=99999` });

const bodyOf = async (request: IncomingMessage): Promise<Record<string, string>> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString()));
};

const listen = async (server: Server, host: string): Promise<string> => {
  server.listen(0, host);
  await once(server, "listening");
  return `http://${host}:${(server.address() as AddressInfo).port}`;
};

/** Starts the site, and a second host for single sign-on. */
export const startLoginPages = async (): Promise<LoginPages> => {
  const sent: LoginPages["sent"] = [];
  const generations = new Map<string, number>();
  const approved = new Set<string>();
  const entered = new Map<string, number>();
  const held = new Map<string, Promise<void>>();
  let urls = { site: "", sso: "" };
  const generationOf = (kind: string): number => generations.get(kind) ?? 1;

  const posts: Record<string, (context: Context) => void> = {
    user: ({ response }) => show(response, passwordStep),
    in(context) {
      const { kind, response } = context;
      if (kind === "locks") return show(response, locked, 403);
      if (!isRight(context)) return show(response, `<p role=alert>Incorrect user name or password.</p>${usual}`, 401);
      const second = secondSteps[kind];
      return second ? show(response, second) : letIn(context, generationOf(kind));
    },
    choose: ({ response }) => show(response, codeStep.replace("authenticator app", "text message")),
    code(context) {
      if (isCode(context)) letIn(context, generationOf(context.kind));
      else show(context.response, `<p role=alert>Wrong code.</p>${codeStep}`, 401);
    },
    sso(context) {
      if (context.kind === "idp-consent") show(context.response, consentPage);
      else redirect(context.response, `${urls.site}/${context.kind}/back?ok=1`);
    },
    allow: (context) => redirect(context.response, `${urls.site}/${context.kind}/back?ok=1`),
  };
  const gets: Record<string, (context: Context) => void> = {
    login({ kind, response, cookie }) {
      if (kind === "inside" || cookie.includes(`in=${generationOf(kind)}`)) return redirect(response, "home");
      if (kind.startsWith("sso")) return redirect(response, `${urls.sso}/${kind}/sso`);
      return show(response, pages[kind] ?? ssoPage(kind, urls.sso) ?? usual);
    },
    framed: ({ response }) => show(response, usual.replace("<form ", "<form target=_top ")),
    sso: ({ response }) => show(response, usual.replace("action=in", "action=sso")),
    back(context) {
      if (context.kind !== "idp-popup") return letIn(context, generationOf(context.kind));
      context.response.setHeader(
        "set-cookie",
        `in=${generationOf(context.kind)}; Path=/${context.kind}; Max-Age=99999`,
      );
      show(context.response, closingPage);
    },
    approved(context) {
      if (!approved.has(context.kind)) context.response.writeHead(404).end();
      else {
        const { kind, response } = context;
        response.writeHead(200, { "set-cookie": `in=${generationOf(kind)}; Path=/${kind}; Max-Age=99999` }).end();
      }
    },
  };

  const home = ({ kind, response, cookie }: Context): void => {
    if (!cookie.includes(`in=${generationOf(kind)}`) && kind !== "inside") {
      redirect(response, "login");
      return;
    }
    entered.set(kind, (entered.get(kind) ?? 0) + 1);
    show(response, "<p>Welcome back.</p><a href=login>Sign out</a>");
  };
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const host = request.headers.host ?? "";
    const [, kind = "", path = ""] = new URL(request.url ?? "", `http://${host}`).pathname.split("/");
    const isPost = request.method === "POST";
    const fields = isPost ? await bodyOf(request) : {};
    if (isPost) {
      sent.push({ kind, path, host, fields });
      await held.get(kind);
    }
    const context = {
      kind,
      path,
      base: `http://${host}/${kind}`,
      fields,
      isPost,
      cookie: request.headers.cookie ?? "",
      response,
    };
    if (path === "home") return home(context);
    const route = (isPost ? posts : gets)[path];
    if (route) route(context);
    else response.writeHead(404).end();
  };
  const [site, sso] = [createServer((a, b) => void serve(a, b)), createServer((a, b) => void serve(a, b))];
  urls = { site: await listen(site, "127.0.0.1"), sso: await listen(sso, "127.0.0.2") };
  return {
    loginUrl: (kind) => `${urls.site}/${kind}/login`,
    sent,
    endSessions: (kind) => void generations.set(kind, generationOf(kind) + 1),
    approve: (kind) => void approved.add(kind),
    hold(kind) {
      const { promise, resolve } = Promise.withResolvers<void>();
      held.set(kind, promise);
      return resolve;
    },
    entered: (kind) => entered.get(kind) ?? 0,
    async [Symbol.asyncDispose]() {
      for (const server of [site, sso]) {
        server.close();
        server.closeAllConnections();
      }
    },
  };
};
