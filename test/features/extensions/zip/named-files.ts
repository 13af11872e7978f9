/**
 * Extensions with files that their manifest names, and without: what Chromium takes of them, and so the check of
 * uploads.
 */

/** `refused`: what the refusal mentions; left out, Chromium takes it. */
type NamedFilesCase = { what: string; fields: object; files?: readonly string[]; refused?: string };

const script = (js: string): object => ({ content_scripts: [{ matches: ["<all_urls>"], js: [js] }] });
const rules = (path: string): object => ({
  permissions: ["declarativeNetRequest"],
  declarative_net_request: { rule_resources: [{ id: "r", enabled: true, path }] },
});

export const namedFilesCases: readonly NamedFilesCase[] = [
  { what: "no worker", fields: { background: { service_worker: "no.js" } }, refused: "background.service_worker" },
  { what: "a worker in another case", fields: { background: { service_worker: "A.JS" } }, refused: "A.JS" },
  { what: "no content script", fields: script("no.js"), refused: "content_scripts[0].js[0]" },
  {
    what: "no style sheet",
    fields: { content_scripts: [{ matches: ["<all_urls>"], js: ["a.js"], css: ["no.css"] }] },
    refused: "content_scripts[0].css[0]",
  },
  { what: "no icon", fields: { icons: { 16: "no.png" } }, refused: "icons.16" },
  { what: "no icon of the action", fields: { action: { default_icon: "no.png" } }, refused: "action.default_icon" },
  {
    what: "no icon of a size of the action",
    fields: { action: { default_icon: { 16: "no.png" } } },
    refused: "action.default_icon.16",
  },
  { what: "no options page", fields: { options_page: "no.html" }, refused: "options_page" },
  { what: "no page of options_ui", fields: { options_ui: { page: "no.html" } }, refused: "options_ui.page" },
  { what: "no side panel", fields: { side_panel: { default_path: "no.html" } }, refused: "side_panel.default_path" },
  {
    what: "no page of new tabs",
    fields: { chrome_url_overrides: { newtab: "no.html" } },
    refused: "chrome_url_overrides.newtab",
  },
  { what: "no rules", fields: rules("no.json"), refused: "declarative_net_request.rule_resources[0].path" },
  { what: "no schema", fields: { storage: { managed_schema: "no.json" } }, refused: "storage.managed_schema" },
  { what: "no messages", fields: { default_locale: "en" }, refused: "_locales/en/messages.json" },
  { what: "a reserved file", fields: {}, files: ["_a.js"], refused: "_a.js" },
  { what: "a reserved folder", fields: {}, files: ["__pycache__/a.js"], refused: "__pycache__" },
  { what: "all of them", fields: { background: { service_worker: "a.js" }, ...script("b/c.js"), ...rules("r.json") } },
  { what: "paths from the root", fields: { background: { service_worker: "/a.js" }, ...script("./a.js") } },
  { what: "dots and slashes in a path", fields: { background: { service_worker: "b/.././b//c.js" } } },
  { what: "a query and a fragment", fields: { background: { service_worker: "a.js?x#y" }, ...script("a.js?x") } },
  { what: "escapes in a worker's path", fields: { background: { service_worker: "%61.js" } } },
  { what: "no popup and no page of DevTools", fields: { action: { default_popup: "no" }, devtools_page: "no" } },
  { what: "an empty options page", fields: { options_page: "" } },
  {
    what: "names of the system",
    fields: {},
    files: ["_metadata/verified_contents.json", "_platform_specific/a", "b/_d.js"],
  },
  { what: "messages", fields: { default_locale: "en" }, files: ["_locales/en/messages.json"] },
];

/** The files of such an extension, beside its manifest, by their paths. */
export const filesOf = ({ files = [] }: NamedFilesCase): Record<string, string> =>
  Object.fromEntries(
    ["a.js", "b/c.js", "r.json", ...files].map((path) => [path, path.endsWith(".json") ? emptyJson(path) : ""]),
  );

const emptyJson = (path: string): string => (path === "r.json" ? "[]" : "{}");
