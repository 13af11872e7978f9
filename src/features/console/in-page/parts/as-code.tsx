/** An object as YAML, as curl, and as SDK: what a program would send for it. */
import { useEffect, useState } from "preact/hooks";
import { codeText, yamlOf } from "../service/code-text.ts";
import { CodeBlock } from "./code-block.tsx";
import { Dialog } from "./dialog.tsx";
import { complain, say } from "./notice.tsx";

/** `yaml`: a manifest, undefined for what no YAML makes. `sdk`: a call by the public SDK, after `client.`. */
type AsCode = {
  title: string;
  yaml?: object;
  curl: { method: string; path: string; body?: object };
  sdk: string;
};

const curlOf = ({ method, path, body }: AsCode["curl"]): string => {
  const lines = [
    `curl${method === "GET" ? "" : ` --request ${method}`} "$KERNEL_BASE_URL${path}"`,
    '--header "Authorization: Bearer $KERNEL_API_KEY"',
    ...(body ? ['--header "Content-Type: application/json"', "--data @- <<'JSON'"] : []),
  ];
  return lines.join(" \\\n  ") + (body ? `\n${JSON.stringify(body, null, 2)}\nJSON` : "");
};

const sdkOf = (sdk: string): string =>
  `import Kernel from "@onkernel/sdk";\n\nconst client = new Kernel(); // KERNEL_API_KEY, KERNEL_BASE_URL\nconsole.log(await client.${sdk});`;

const useYaml = (object: object | undefined): string => {
  const [text, setText] = useState("");
  useEffect(() => {
    if (!object) return;
    yamlOf(object).then(setText, complain);
  }, [object]);
  return text;
};

const copy = (text: string): void => {
  navigator.clipboard.writeText(text).then(() => say("Copied."), complain);
};

const names = { yaml: "YAML", curl: "curl", sdk: "SDK" } as const;

/** The three forms, each to copy. */
export const Code = ({ of }: { of: AsCode }) => {
  const forms = (["yaml", "curl", "sdk"] as const).filter((form) => form !== "yaml" || of.yaml);
  const [form, setForm] = useState<keyof typeof names>(forms[0] ?? "curl");
  const yaml = useYaml(of.yaml);
  const text = { yaml, curl: codeText(curlOf(of.curl)), sdk: codeText(sdkOf(of.sdk)) }[form];
  return (
    <>
      <div class="row">
        <fieldset class="segments">
          <legend class="unseen">Form</legend>
          {forms.map((each) => (
            <label key={each}>
              <input type="radio" name="form" checked={each === form} onChange={() => setForm(each)} />
              {names[each]}
            </label>
          ))}
        </fieldset>
        <button type="button" onClick={() => copy(text)}>
          Copy
        </button>
      </div>
      <CodeBlock label={names[form]} text={text} />
      {form === "yaml" ? (
        <p class="muted">For kubectl apply, in the namespace of the project.</p>
      ) : (
        <p class="muted">
          KERNEL_BASE_URL is <code>{location.origin}</code>, KERNEL_API_KEY a key that you have.
        </p>
      )}
    </>
  );
};

/** A button that opens the three forms. */
export const AsCodeButton = ({ of }: { of: AsCode }) => {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        As code
      </button>
      {isOpen && (
        <Dialog title={of.title} isWide onClose={() => setOpen(false)}>
          <Code of={of} />
          <div class="row end">
            <button type="button" onClick={() => setOpen(false)}>
              Close
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
};
