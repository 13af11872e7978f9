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
        <button>Continue</button>
      </form>
      <script src="/login/page.js"></script>`,
  );

const inputType = (field: string): string =>
  /passw/i.test(field) ? "password" : /email/i.test(field) ? "email" : "text";

const autocomplete = (field: string): string => {
  if (/passw/i.test(field)) return "current-password";
  return /user|email|login/i.test(field) ? "username" : "off";
};

const fieldInput = (field: string): Html =>
  html`        <label>${field}
          <input name="value:${field}" type="${inputType(field)}" autocomplete="${autocomplete(field)}" required maxlength="4096">
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
        <button>Hand in</button>
      </form>`,
  );

/** A page with a title and a text only. */
export const messagePage = (title: string, text: string): string =>
  layout(title, html`      <p role="status">${text}</p>`);

/** The style sheet of all pages, as `/login/page.css` serves it. */
export const style = `:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { margin: 0; display: grid; place-items: center; min-height: 100vh; }
main { width: min(28rem, 90vw); padding: 2rem 0; }
label { display: block; margin: 1rem 0; }
input { display: block; width: 100%; box-sizing: border-box; padding: .5rem; font: inherit; }
input[type="hidden"] { display: none; }
button { margin-top: 1rem; padding: .5rem 1.5rem; font: inherit; }
.problem { border-left: .25rem solid #c00; padding-left: .75rem; }
`;

/** Removes the code from the address, so that no history keeps it, and submits it. */
export const script = `const code = location.hash.slice(1);
if (code) {
  history.replaceState(null, "", location.pathname);
  const form = document.getElementById("exchange");
  form.elements.code.value = code;
  form.submit();
}
`;
