/** One credential: the names of what it stores, and the code of its authenticator for who may read that. */
import { useEffect, useState } from "preact/hooks";
import type { z } from "zod";
import type { CredentialAnswer, TotpCodeAnswer } from "../../../vaults/credentials/credential.ts";
import { AsCodeButton } from "../parts/as-code.tsx";
import { type Form, FormButton } from "../parts/form.tsx";
import type { Field } from "../parts/form-fields.tsx";
import { complain } from "../parts/notice.tsx";
import { DeleteButton, Facts, ObjectHead, ObjectPage, TextList } from "../parts/object-page.tsx";
import { State } from "../parts/state.tsx";
import { plainText, Text } from "../parts/text.tsx";
import { now, Time } from "../parts/time.tsx";
import { to } from "../router.ts";
import { call, inPath } from "../service/api.ts";
import { manifestOf } from "../service/manifests.ts";
import { may } from "../service/session.ts";
import { nameRule, originsHint } from "../service/words.ts";

type TotpCode = z.infer<typeof TotpCodeAnswer>;

/** The code, after a click, for as long as it is good. */
const Code = ({ path }: { path: string }) => {
  const [shown, setShown] = useState<TotpCode>();
  useEffect(() => {
    if (!shown) return;
    const timer = setTimeout(() => setShown(undefined), Math.max(0, Date.parse(shown.expires_at) - Date.now()));
    return () => clearTimeout(timer);
  }, [shown]);
  const show = async (): Promise<void> => {
    try {
      setShown(await call<TotpCode>("GET", `${path}/totp-code`));
    } catch (error) {
      complain(error);
    }
  };
  const left = shown ? Math.max(0, Math.ceil((Date.parse(shown.expires_at) - now.value) / 1000)) : 0;
  return (
    <span class="row">
      {shown ? (
        <>
          <output class="code-shown mono">{shown.code}</output> <span class="muted">for {left} s</span>
          <button type="button" onClick={() => setShown(undefined)}>
            Hide
          </button>
        </>
      ) : (
        <button type="button" onClick={() => void show()}>
          Show the code
        </button>
      )}
    </span>
  );
};

const changeFields = (credential: CredentialAnswer): Field[] => {
  const stored = credential.value_keys ?? [];
  return [
    { name: "name", label: "Name", hint: nameRule, isRequired: true, initial: credential.name },
    {
      ...{ name: "values", label: "Values to store", kind: "pairs", nameOfOne: "value" },
      hint: "A value takes the place of the stored one of its name; the others stay as they are.",
    },
    {
      ...{ name: "remove_value_keys", label: "Values to remove", kind: "flags", isLeftOut: stored.length === 0 },
      options: stored.map((value) => ({ value })),
    },
    {
      ...{ name: "totp_secret", label: "New secret of the authenticator", kind: "secret" },
      hint: "In base32. Left empty, it stays as it is.",
    },
    {
      ...{ name: "no_totp", label: "Remove the authenticator", kind: "flag" },
      isLeftOut: !credential.has_totp_secret && credential.totp_secret_problem === undefined,
    },
    {
      ...{ name: "allowed_origins", label: "Only into pages of", kind: "lines", hint: originsHint },
      initial: credential.allowed_origins,
    },
  ];
};

const change = (credential: CredentialAnswer, again: () => void): Form => ({
  title: `Change ${plainText(credential.name)}`,
  fields: changeFields(credential),
  action: "Save the change",
  async send(_given, { no_totp, ...changed }) {
    const body = { ...changed, ...(no_totp === true && { totp_secret: "" }) };
    const { name } = await call<CredentialAnswer>("PATCH", `/credentials/${inPath(credential.id)}`, { body });
    if (name === credential.name) again();
    return {
      said: `Credential ${plainText(name)} is changed.`,
      ...(name !== credential.name && { next: to(["credentials", name]) }),
    };
  },
});

/** The code that makes it: the place of each value is empty, as nobody is told what it is. */
const CodeOf = ({ credential }: { credential: CredentialAnswer }) => {
  const { name, domain, allowed_origins, value_keys = [], has_totp_secret } = credential;
  const values = Object.fromEntries(value_keys.map((key) => [key, "…"]));
  const body = { name, domain, values, ...(has_totp_secret && { totp_secret: "…" }), allowed_origins };
  const spec = {
    ...{ name, domain, allowed_origins, value_keys, totp: has_totp_secret },
    secret_ref: { name: `${credential.id}-values` },
  };
  return (
    <AsCodeButton
      of={{
        title: `${plainText(name)} as code`,
        yaml: manifestOf("Credential", credential, spec),
        curl: { method: "POST", path: "/credentials", body },
        sdk: `credentials.create(${JSON.stringify(body, null, 2)})`,
      }}
    />
  );
};

const authenticatorOf = ({ has_totp_secret, totp_secret_problem }: CredentialAnswer, path: string) => {
  if (totp_secret_problem) return <State tone="bad">Its secret is no base32 text, and gives no codes</State>;
  if (!has_totp_secret) return "none";
  return may("credentials:totp") ? <Code path={path} /> : "stored";
};

const CredentialView = ({ credential, again }: { credential: CredentialAnswer; again: () => void }) => {
  const path = `/credentials/${inPath(credential.id)}`;
  const { name, value_keys = [], allowed_origins, sso_provider } = credential;
  const isAllowed = may("credentials:write");
  return (
    <>
      <ObjectHead name={name}>
        {isAllowed && <FormButton word="Change" form={change(credential, again)} />}
        <CodeOf credential={credential} />
        {isAllowed && (
          <DeleteButton
            {...{ name, what: "credential", path, next: to(["credentials"]) }}
            text="Its values are deleted for good. Logins that use it can't be filled until they have another one."
          />
        )}
      </ObjectHead>
      <Facts
        of={{
          Id: <span class="mono">{credential.id}</span>,
          Domain: <Text of={credential.domain} />,
          "Stored values": value_keys.length > 0 ? <TextList of={value_keys} /> : "none",
          Authenticator: authenticatorOf(credential, path),
          "Only into pages of": allowed_origins ? <TextList of={allowed_origins} /> : "any page",
          "SSO provider": sso_provider !== null && <Text of={sso_provider} />,
          Made: <Time at={credential.created_at} />,
          Changed: <Time at={credential.updated_at} />,
        }}
      />
      <p class="muted">Nobody is shown a stored value: fills type it into pages, and that is all.</p>
    </>
  );
};

/** The credential with this id or name. */
export const View = ({ id }: { id: string }) => (
  <ObjectPage<CredentialAnswer>
    what="Credential"
    path={`/credentials/${inPath(id)}`}
    kind="credential"
    all={{ title: "All credentials", address: to(["credentials"]) }}
  >
    {(credential, again) => <CredentialView credential={credential} again={again} />}
  </ObjectPage>
);
