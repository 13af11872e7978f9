/** One API key: what it may do, and the ways to narrow, replace and end it. */
import { useState } from "preact/hooks";
import { permissionTexts } from "../../../../core/model/permission-texts.ts";
import { AsCodeButton } from "../parts/as-code.tsx";
import { type Form, FormButton } from "../parts/form.tsx";
import { KeyShown } from "../parts/key-shown.tsx";
import { DeleteButton, Facts, ObjectHead, ObjectPage } from "../parts/object-page.tsx";
import { plainText, Text } from "../parts/text.tsx";
import { Time } from "../parts/time.tsx";
import { to } from "../router.ts";
import { call, inPath } from "../service/api.ts";
import type { ApiKey, CreatedApiKey } from "../service/org.ts";
import { permissionOptions } from "../service/permission-options.ts";
import { may, session } from "../service/session.ts";

type Changed = { path: string; again: () => void };

const rename = (key: ApiKey, { path, again }: Changed): Form => ({
  title: `Rename ${plainText(key.name)}`,
  fields: [{ name: "name", label: "Name", hint: "Who or what uses it.", isRequired: true, initial: key.name }],
  action: "Rename",
  async send({ name }) {
    await call("PATCH", path, { body: { name } });
    again();
    return { said: "The key has its new name." };
  },
});

const narrow = (key: ApiKey, { path, again }: Changed): Form => ({
  title: `What ${plainText(key.name)} may do`,
  intro: "It counts within a moment. People who are signed in with this key have to sign in again.",
  fields: [
    {
      ...{ name: "permissions", label: "It may", kind: "flags", initial: key.permissions },
      // What the person's own key may not do, it can take away and not give.
      options: permissionOptions(
        (name) =>
          key.permissions.some((each) => each === name) ||
          (may(name) && (key.project_id === null || name !== "organization")),
      ),
    },
  ],
  action: "Save the permissions",
  async send({ permissions }) {
    await call("PATCH", path, { body: { permissions } });
    again();
    return { said: "The key has its new permissions." };
  },
});

const rotate = (key: ApiKey, path: string, onMade: (made: CreatedApiKey) => void): Form => ({
  title: `Rotate ${plainText(key.name)}`,
  intro: "Makes a new key with the same name and rights. The old one goes on for the days that you give it.",
  fields: [
    {
      ...{ name: "expire_in_days", label: "Days for which the old key still works", kind: "number", min: 0, max: 3650 },
      initial: 7,
    },
    {
      ...{ name: "days_to_expire", label: "Days until the new key expires", kind: "number", min: 1, max: 3650 },
      hint: "Left empty: as the old key was made.",
    },
  ],
  action: "Rotate the key",
  async send(given) {
    onMade(await call<CreatedApiKey>("POST", `${path}/rotate`, { body: given }));
    return {};
  },
});

const KeyView = ({ apiKey: key, again }: { apiKey: ApiKey; again: () => void }) => {
  const [made, setMade] = useState<CreatedApiKey>();
  const path = `/org/api_keys/${inPath(key.id)}`;
  const known = session.value;
  const isOwn = known !== undefined && "key" in known && known.key.id === key.id;
  const body = { name: key.name, project_id: key.project_id, permissions: key.permissions };
  return (
    <>
      <ObjectHead name={key.name}>
        <a class="button" href={to(["audit"], { key: key.id })}>
          What it did
        </a>
        <FormButton word="Rename" form={rename(key, { path, again })} />
        <FormButton word="Change what it may do" form={narrow(key, { path, again })} />
        <FormButton word="Rotate" form={rotate(key, path, setMade)} />
        <AsCodeButton
          of={{
            title: `${plainText(key.name)} as code`,
            curl: { method: "POST", path: "/org/api_keys", body },
            sdk: `apiKeys.create(${JSON.stringify(body, null, 2)})`,
          }}
        />
        <DeleteButton
          {...{ name: key.name, what: "key", path, next: to(["api-keys"]) }}
          text={
            isOwn
              ? "You are signed in with this key: you are signed out, and nothing that uses it works any more."
              : "Nothing that uses it works any more. Its sessions go on; other keys can end them."
          }
        />
      </ObjectHead>
      {made && <KeyShown made={made} close={() => setMade(undefined)} />}
      {isOwn && <p class="muted">You are signed in with this key.</p>}
      <Facts
        of={{
          Id: <span class="mono">{key.id}</span>,
          "Looks like": <Text of={key.masked_key} mono />,
          Level:
            key.project_id === null ? (
              "the organization"
            ) : (
              <a href={to(["projects", key.project_id])}>
                <Text of={key.project_name ?? key.project_id} />
              </a>
            ),
          Expires: <Time at={key.expires_at} />,
          Made: <Time at={key.created_at} />,
          "Made by": <Text of={key.created_by.name ?? key.created_by.id} />,
        }}
      />
      <section>
        <h2>What it may do</h2>
        <dl class="rights">
          {key.permissions.map((permission) => (
            <div key={permission}>
              <dt class="mono">{permission}</dt>
              <dd class="muted">{permissionTexts[permission]}</dd>
            </div>
          ))}
        </dl>
      </section>
    </>
  );
};

/** The key with this id. */
export const View = ({ id }: { id: string }) => (
  <ObjectPage<ApiKey>
    what="API key"
    path={`/org/api_keys/${inPath(id)}`}
    all={{ title: "All keys", address: to(["api-keys"]) }}
  >
    {(key, again) => <KeyView apiKey={key} again={again} />}
  </ObjectPage>
);
