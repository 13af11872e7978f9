/** The pages of the hosted login: plain HTML that works without scripts. */
import { type Html, html, htmlPage } from "../../../core/http/html.ts";

const layout = (title: string, body: Html): string =>
  htmlPage({
    title,
    css: "/login/page.css",
    body: html`    <main>
      <h1>${title}</h1>
${body}
    </main>
`,
  });

/**
 * The page of the login link. The code follows the `#` of the URL, a part that browsers send to no server. The script
 * puts it into the form and sends that; without scripts the person copies it.
 */
export const codePage = (): string =>
  layout(
    "Log in",
    html`      <form method="post" id="exchange">
        <p>You were asked to hand in a login. The link is good once, for ten minutes.</p>
        <label>Code: the part of this page's address behind <code>#</code>
          <input name="code" required autocomplete="off" autocapitalize="off" spellcheck="false" maxlength="128" autofocus>
        </label>
        <button class="primary">Continue</button>
      </form>
      <script src="/login/page.js"></script>`,
  );

const inputType = (field: string): string =>
  /passw/i.test(field) ? "password" : /email/i.test(field) ? "email" : "text";

const autocomplete = (field: string): string => {
  if (/passw/i.test(field)) return "current-password";
  return /user|email|login/i.test(field) ? "username" : "off";
};

/** A field; the script adds the button that shows a password, since without scripts it would do nothing. */
const fieldInput = (field: string): Html =>
  html`        <label>${field}
          <input name="value:${field}" type="${inputType(field)}" autocomplete="${autocomplete(field)}" required maxlength="4096" spellcheck="false" autocapitalize="off">
        </label>
`;

type FormPage = { projectName: string; domain: string; fields: string[]; csrf: string; problem?: string };

/**
 * The form for the login of a domain. The name of a project may have signs that turn the text around, so it is
 * isolated. It never shows values that were typed before.
 */
export const formPage = ({ projectName, domain, fields, csrf, problem }: FormPage): string =>
  layout(
    `Log in to ${domain}`,
    html`${problem ? html`      <p class="problem" role="alert">${problem}</p>\n` : ""}      <p>The project <strong><bdi>${projectName}</bdi></strong> asks for this login.</p>
      <p>What you type is stored for <strong>${domain}</strong> and shown to nobody. Check that this is the site you were asked about.</p>
      <form method="post" action="form">
        <input type="hidden" name="csrf" value="${csrf}">
${fields.map(fieldInput)}        <details>
          <summary>Another field</summary>
          <label>Its name <input name="extra_name" maxlength="128" autocomplete="off"></label>
          <label>Its value <input name="extra_value" maxlength="4096" autocomplete="off"></label>
        </details>
        <button class="primary">Save login</button>
      </form>
      <p class="next">What happens next: programs of the project can have this login typed into pages of ${domain}, and never get to see it. Whoever asked you for it can delete it.</p>
      <script src="/login/page.js"></script>`,
  );

type OwnLoginPage = {
  projectName: string;
  domain: string;
  csrf: string;
  interactionId: string;
  fields: readonly { id: string; label?: string | undefined; required?: boolean | undefined }[];
  choices: readonly { id: string; label: string }[];
  /** Choices that lead to another site, each of which is a button of its own. */
  ssoButtons: readonly { id: string; label: string }[];
  /** What to do, or what goes on. */
  text: string;
  liveViewUrl: string | undefined;
  problem?: string;
};

const awaitedInput = ({ id, label = id, required = true }: OwnLoginPage["fields"][number]): Html =>
  html`        <label><bdi>${label}</bdi>
          <input name="value:${id}" type="${inputType(id)}" autocomplete="${id === "code" ? "one-time-code" : autocomplete(id)}"${required ? html` required` : ""} maxlength="4096" spellcheck="false" autocapitalize="off">
        </label>
`;

const choiceInput = ({ id, label }: OwnLoginPage["choices"][number]): Html =>
  html`        <label><input type="radio" name="choice" value="${id}" required> <bdi>${label}</bdi></label>
`;

const ssoForm = ({ csrf, interactionId, ssoButtons }: OwnLoginPage): Html =>
  html`      <form method="post" action="form">
        <input type="hidden" name="csrf" value="${csrf}">
        <input type="hidden" name="interaction" value="${interactionId}">
${ssoButtons.map(
  ({ id, label }) => html`        <p><button name="choice" value="${id}"><bdi>${label}</bdi></button></p>
`,
)}      </form>
`;

/** The page of a login that the service does: what it waits for, and the way to the browser's live view. */
export const ownLoginPage = (asked: OwnLoginPage): string => {
  const { projectName, domain, csrf, interactionId, fields, choices, text, liveViewUrl, problem } = asked;
  const form = html`      <form method="post" action="form">
        <input type="hidden" name="csrf" value="${csrf}">
        <input type="hidden" name="interaction" value="${interactionId}">
${fields.map(awaitedInput)}${choices.map(choiceInput)}        <button class="primary">Continue</button>
      </form>
`;
  return layout(
    `Log in to ${domain}`,
    html`${problem ? html`      <p class="problem" role="alert">${problem}</p>\n` : ""}      <p>The project <strong><bdi>${projectName}</bdi></strong> logs a browser in at <strong>${domain}</strong>.</p>
      <p role="status">${text}</p>
${fields.length + choices.length > 0 ? form : ""}${asked.ssoButtons.length > 0 ? ssoForm(asked) : ""}${liveViewUrl ? html`      <p><a href="${liveViewUrl}" target="_blank" rel="noreferrer">Open the browser</a> to go on there by hand.</p>\n` : ""}      <script src="/login/page.js"></script>`,
  );
};

/** A page with a title and a text only. */
export const messagePage = (title: string, text: string): string =>
  layout(title, html`      <p role="status">${text}</p>`);

/** What `/login/page.css` has besides the tokens. */
export const style = `body { display: grid; place-items: center; min-height: 100vh; }
main { width: min(28rem, 90vw); padding: var(--space-8) 0; }
h1 { margin: 0 0 var(--space-4); font-size: 1.375rem; line-height: 1.25; overflow-wrap: anywhere; }
label { display: block; margin: var(--space-4) 0; }
.problem { border-left: 3px solid var(--bad); border-radius: var(--radius); padding: var(--space-2) var(--space-3); background: var(--bad-surface); }
.next { color: var(--text-muted); font-size: var(--small); }
details { margin: var(--space-4) 0; }
label + button[type="button"] { margin-top: calc(-1 * var(--space-2)); }
summary { cursor: pointer; }
`;

/**
 * Removes the code from the address, so that no history keeps it, and submits it. In the form for the login it adds a
 * button to each password that shows it; what is sent is a password again, or browsers would keep it as a text.
 */
export const script = `const code = location.hash.slice(1);
const exchange = document.getElementById("exchange");
if (exchange && code) {
  history.replaceState(null, "", location.pathname);
  exchange.elements.code.value = code;
  exchange.submit();
}
for (const input of document.querySelectorAll("input[type=password]")) {
  const button = document.createElement("button");
  const show = (isShown) => {
    input.type = isShown ? "text" : "password";
    button.textContent = isShown ? "Hide what is typed" : "Show what is typed";
  };
  button.type = "button";
  input.closest("label").after(button);
  show(false);
  button.addEventListener("click", () => show(input.type === "password"));
  input.form.addEventListener("submit", () => show(false));
}
`;
