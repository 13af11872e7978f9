/** One login: whether it can be filled, and the way by which a person hands it in. */
import { useState } from "preact/hooks";
import type { ConnectionAnswer, LoginAnswer } from "../../../vaults/connections/auth-connection.ts";
import type { CredentialAnswer } from "../../../vaults/credentials/credential.ts";
import { AsCodeButton } from "../parts/as-code.tsx";
import { FormButton } from "../parts/form.tsx";
import { changeLogin } from "../parts/login-form.tsx";
import { complain, say } from "../parts/notice.tsx";
import { DeleteButton, Facts, ObjectHead, ObjectPage, TextList } from "../parts/object-page.tsx";
import { PlaceLink } from "../parts/place-link.tsx";
import { Stand } from "../parts/stand.tsx";
import { State } from "../parts/state.tsx";
import { plainText, Text } from "../parts/text.tsx";
import { now, Time } from "../parts/time.tsx";
import { to } from "../router.ts";
import { call, inPath } from "../service/api.ts";
import { loginName, loginStand } from "../service/login-state.ts";
import { manifestOf } from "../service/manifests.ts";
import { may } from "../service/session.ts";
import { useCredentials } from "../service/use-credentials.ts";

/** What a person does with the link of a login that has begun. */
const Hosted = ({ begun, close }: { begun: LoginAnswer; close: () => void }) => {
  const copy = (): void => {
    navigator.clipboard.writeText(begun.hosted_url).then(() => say("Copied."), complain);
  };
  const isOver = Date.parse(begun.flow_expires_at) <= now.value;
  return (
    <section class="notice" aria-label="The login that has begun">
      <h2>Hand in the login</h2>
      {isOver ? (
        <div class="row">
          <span>This link is no longer good. Begin the login again.</span>
          <button type="button" onClick={close}>
            Close
          </button>
        </div>
      ) : (
        <>
          <p>
            The link opens once, until <Time at={begun.flow_expires_at} />. Whoever opens it is asked for the login of
            this site; what is typed is stored for this site, and shown to nobody. This page shows it when it is done.
          </p>
          <div class="row">
            <a class="button" href={begun.hosted_url} target="_blank" rel="noopener noreferrer">
              Open the login page
            </a>
            <button type="button" onClick={copy}>
              Copy the link for somebody else
            </button>
            <button type="button" onClick={close}>
              Close
            </button>
          </div>
        </>
      )}
    </section>
  );
};

type Shown = { login: ConnectionAnswer; credentials: readonly CredentialAnswer[] | undefined; again: () => void };

const Actions = ({ login, credentials, again, begin }: Shown & { begin: () => void }) => {
  const path = `/auth/connections/${inPath(login.id)}`;
  const name = loginName(login);
  const { domain, profile_name, credential, allowed_origins, save_credentials } = login;
  const body = { domain, profile_name, credential, allowed_origins, save_credentials };
  const isAllowed = may("credentials:write");
  return (
    <ObjectHead name={name}>
      {isAllowed && (
        <>
          <button type="button" class="primary" onClick={begin}>
            Begin a login
          </button>
          {credentials && <FormButton word="Change" form={changeLogin(login, { credentials, again })} />}
        </>
      )}
      <AsCodeButton
        of={{
          title: `${plainText(name)} as code`,
          yaml: manifestOf("AuthConnection", { name: `${domain}-${profile_name}`, id: login.id }, body),
          curl: { method: "POST", path: "/auth/connections", body },
          sdk: `auth.connections.create(${JSON.stringify(body, null, 2)})`,
        }}
      />
      {isAllowed && (
        <DeleteButton
          {...{ name, what: "login", path, next: to(["logins"]) }}
          text="Items of vaults that use it can't be filled any more, also when a login like it is made again. Its credential and its profile stay."
        />
      )}
    </ObjectHead>
  );
};

const LoginStand = ({ login, credentials }: Pick<Shown, "login" | "credentials">) => {
  if (!credentials) return null;
  const { tone, word, why, todo } = loginStand(login, credentials);
  return (
    <Stand state={<State tone={tone}>{word}</State>}>
      {why} {todo}
    </Stand>
  );
};

const LoginView = ({ login, again }: Pick<Shown, "login" | "again">) => {
  const [begun, setBegun] = useState<LoginAnswer>();
  const { data: credentials } = useCredentials();
  const begin = async (): Promise<void> => {
    try {
      setBegun(await call<LoginAnswer>("POST", `/auth/connections/${inPath(login.id)}/login`, { body: {} }));
    } catch (error) {
      complain(error);
    }
  };
  const { credential, allowed_origins } = login;
  return (
    <>
      <Actions {...{ login, credentials, again }} begin={() => void begin()} />
      <LoginStand login={login} credentials={credentials} />
      {begun && <Hosted begun={begun} close={() => setBegun(undefined)} />}
      <Facts
        of={{
          Id: <span class="mono">{login.id}</span>,
          Domain: <Text of={login.domain} />,
          Profile: (
            <PlaceLink needs="pools:read" at={["profiles", login.profile_name]}>
              <Text of={login.profile_name} />
            </PlaceLink>
          ),
          Credential:
            credential?.name !== undefined ? (
              <a href={to(["credentials", credential.name])}>
                <Text of={credential.name} />
              </a>
            ) : credential ? (
              <Text of={`${credential.provider ?? "any provider"} ${credential.path ?? "by the domain"}`} />
            ) : (
              "none"
            ),
          "A person has logged in": login.status === "AUTHENTICATED" ? "yes" : "not yet",
          "What a person types": login.save_credentials ? "is kept as the credential" : "is not kept",
          "Only into pages of": allowed_origins ? <TextList of={allowed_origins} /> : "what its credential allows",
          Made: <Time at={login.created_at} />,
          Changed: <Time at={login.updated_at} />,
        }}
      />
    </>
  );
};

/** The login with this id. */
export const View = ({ id }: { id: string }) => (
  <ObjectPage<ConnectionAnswer>
    what="Login"
    path={`/auth/connections/${inPath(id)}`}
    kind="auth_connection"
    all={{ title: "All logins", address: to(["logins"]) }}
  >
    {(login, again) => <LoginView login={login} again={again} />}
  </ObjectPage>
);
