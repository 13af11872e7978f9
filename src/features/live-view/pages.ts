/** The page of a live view. Its scripts are in in-page/; without them it says so. */
import { type Html, html, htmlPage } from "../../core/http/html.ts";

/** Relative to `/gateway/<session>/live`, so that a prefix in front of the service is kept. */
const assets = "../../live-view";

const layout = (title: string, head: Html, body: Html): string =>
  htmlPage({ title, css: `${assets}/page.css`, head, body });

const controls = html`    <form id="address" class="bar" aria-label="Address">
      <button type="button" id="back" aria-label="Back">&#x2190;</button>
      <button type="button" id="forward" aria-label="Forward">&#x2192;</button>
      <button type="button" id="reload" aria-label="Reload">&#x21bb;</button>
      <input id="url" aria-label="Address of the shown tab" autocomplete="off" autocapitalize="off" spellcheck="false" maxlength="2048">
      <button>Go</button>
      <button type="button" id="copy">Copy</button>
      <button type="button" id="paste">Paste</button>
    </form>
`;

const keyboard = html`      <textarea id="keyboard" aria-label="The remote browser: keyboard and mouse" aria-describedby="leave" autocomplete="off" autocapitalize="off" spellcheck="false"></textarea>
`;

const dialogs = html`    <dialog id="page-dialog" aria-labelledby="page-dialog-title">
      <form method="dialog">
        <h2 id="page-dialog-title">The page says</h2>
        <p class="site" id="page-dialog-site"></p>
        <p id="page-dialog-text"></p>
        <input id="page-dialog-input" aria-label="Your answer" maxlength="2000">
        <button value="accept" id="page-dialog-accept">OK</button>
        <button value="dismiss" id="page-dialog-dismiss">Cancel</button>
      </form>
    </dialog>
    <dialog id="ask-dialog" aria-labelledby="ask-title" aria-describedby="ask-site">
      <form method="dialog">
        <h2 id="ask-title"></h2>
        <p class="site" id="ask-site"></p>
        <div id="ask-fields"></div>
        <button value="done">OK</button>
        <button value="cancel" formnovalidate>Cancel</button>
      </form>
    </dialog>
    <dialog id="text-dialog" aria-labelledby="text-dialog-title">
      <form method="dialog">
        <h2 id="text-dialog-title"></h2>
        <textarea id="text-dialog-text" aria-labelledby="text-dialog-title" rows="6" maxlength="50000"></textarea>
        <button value="done" id="text-dialog-done"></button>
        <button value="close">Close</button>
      </form>
    </dialog>
`;

/** The page that shows a browser. `readOnly`: without anything that acts on it. */
export const viewPage = ({ readOnly }: { readOnly: boolean }): string =>
  layout(
    readOnly ? "Live view (read-only)" : "Live view",
    html`    <script type="module" src="${assets}/main.js"></script>\n`,
    html`    <main id="view" data-read-only="${String(readOnly)}">
    <h1 class="unseen">Live view of a browser</h1>
    <nav class="bar" aria-label="Tabs of the browser">
      <ul id="tabs"></ul>
${readOnly ? "" : html`      <button type="button" id="open-tab">New tab</button>\n`}    </nav>
${readOnly ? "" : controls}    <p id="status" role="status" aria-live="polite">Connecting…</p>
    <div id="screen">
      <canvas id="picture" role="img" aria-label="Picture of the remote browser"></canvas>
${readOnly ? "" : keyboard}    </div>
${readOnly ? "" : html`    <p id="leave">While the picture has the focus, keys go to the browser. <kbd>Ctrl</kbd>+<kbd>Alt</kbd>+<kbd>Shift</kbd> brings you back to these controls.</p>\n`}    <noscript><p>The live view needs JavaScript.</p></noscript>
${readOnly ? "" : dialogs}    </main>
`,
  );

/** A page with words in place of a browser. */
export const noticePage = (title: string, text: string): string =>
  layout(
    title,
    html``,
    html`    <main class="notice">
      <h1>${title}</h1>
      <p role="status">${text}</p>
    </main>
`,
  );
