/** One extension. */
import type { ExtensionAnswer } from "../../../extensions/extension.ts";
import { AsCodeButton } from "../parts/as-code.tsx";
import { DownloadButton } from "../parts/download.tsx";
import { DeleteButton, Facts, ObjectHead, ObjectPage } from "../parts/object-page.tsx";
import { plainText } from "../parts/text.tsx";
import { Time } from "../parts/time.tsx";
import { to } from "../router.ts";
import { inPath } from "../service/api.ts";
import { may } from "../service/session.ts";
import { bytes } from "../service/words.ts";

const ExtensionView = ({ extension }: { extension: ExtensionAnswer }) => {
  const path = `/extensions/${inPath(extension.id)}`;
  const name = extension.name ?? extension.id;
  const named = JSON.stringify([{ id: extension.id }]);
  return (
    <>
      <ObjectHead name={name}>
        <DownloadButton path={path} name={`${plainText(name)}.zip`} />
        <AsCodeButton
          of={{
            title: `${plainText(name)} as code`,
            curl: { method: "GET", path: `${path}/metadata` },
            sdk: `extensions.get(${JSON.stringify(extension.id)})`,
          }}
        />
        {may("pools:write") && (
          <DeleteButton
            {...{ name, what: "extension", path, next: to(["extensions"]) }}
            text="Its file is deleted for good. Refused while a pool or a browser uses it."
          />
        )}
      </ObjectHead>
      <Facts
        of={{
          Id: <span class="mono">{extension.id}</span>,
          Size: bytes(extension.size_bytes),
          "SHA-256 of the file": <span class="mono">{extension.checksum}</span>,
          Uploaded: <Time at={extension.created_at} />,
        }}
      />
      <p class="muted">
        Browsers start with it by <code>"extensions": {named}</code>.
      </p>
    </>
  );
};

/** The extension with this id or name. */
export const View = ({ id }: { id: string }) => (
  <ObjectPage<ExtensionAnswer>
    what="Extension"
    path={`/extensions/${inPath(id)}/metadata`}
    kind="extension"
    all={{ title: "All extensions", address: to(["extensions"]) }}
  >
    {(extension) => <ExtensionView extension={extension} />}
  </ObjectPage>
);
