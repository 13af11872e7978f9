import { writeZip } from "./zip-writer.ts";

/**
 * The zip of an extension whose content script asks its worker and marks each page with the answer, the extension's
 * name: at the end of the title, and with Chromium's id of the extension in the body's `data-NAME`. `name`: small
 * letters, digits and hyphens.
 */
export const markingExtension = (name: string): Buffer =>
  writeZip([
    {
      name: "manifest.json",
      content: JSON.stringify({
        manifest_version: 3,
        name,
        version: "1.0",
        background: { service_worker: "worker.js" },
        content_scripts: [{ matches: ["<all_urls>"], js: ["content.js"] }],
      }),
    },
    {
      name: "worker.js",
      content: `chrome.runtime.onMessage.addListener((_, __, answer) => answer(${JSON.stringify(name)}));`,
    },
    {
      name: "content.js",
      content: `chrome.runtime.sendMessage("who").then((answer) => {
        document.title += " " + answer;
        document.body.setAttribute("data-" + answer, chrome.runtime.id);
      });`,
    },
  ]);
