/** The forms of logins: to make one, and to change one. */
import type { ConnectionAnswer } from "../../../vaults/connections/auth-connection.ts";
import type { CredentialAnswer } from "../../../vaults/credentials/credential.ts";
import { to } from "../router.ts";
import { call, inPath } from "../service/api.ts";
import { loginName } from "../service/login-state.ts";
import { nameRule, originsHint } from "../service/words.ts";
import type { Form } from "./form.tsx";
import type { Field } from "./form-fields.tsx";
import { plainText } from "./text.tsx";

const shared = (credentials: readonly CredentialAnswer[], login?: ConnectionAnswer): Field[] => [
  {
    ...{ name: "credential", label: "Credential", kind: "choice", initial: login?.credential?.name },
    options: [
      { value: "", text: login ? "none" : "none yet: a person will log in" },
      ...credentials.map(({ name }) => ({ value: name })),
    ],
    hint: "Where the values are.",
  },
  {
    ...{ name: "allowed_origins", label: "Only into pages of", kind: "lines", initial: login?.allowed_origins },
    hint: `${originsHint} Each must be among those of the credential.`,
  },
  {
    ...{ name: "save_credentials", label: "Keep what a person types as the credential", kind: "flag" },
    initial: login?.save_credentials ?? true,
  },
];

/** To make a login. */
export const makeLogin = (credentials: readonly CredentialAnswer[]): Form => ({
  title: "Make a login",
  intro: "A login is one person's or one account's way into a site.",
  fields: [
    {
      name: "domain",
      label: "Domain",
      hint: "Of the site, such as shop.example. It can't be changed later.",
      isRequired: true,
    },
    {
      ...{ name: "profile_name", label: "Profile", isRequired: true },
      hint: `Who is logged in there. ${nameRule} It is made if there is none, and can't be changed later.`,
    },
    ...shared(credentials),
  ],
  action: "Make the login",
  async send({ credential, ...rest }) {
    const body = { ...rest, ...(typeof credential === "string" && { credential: { name: credential } }) };
    const made = await call<ConnectionAnswer>("POST", "/auth/connections", { body });
    return { said: `Login ${plainText(loginName(made))} is there.`, next: to(["logins", made.id]) };
  },
});

/** To change this one. */
export const changeLogin = (
  login: ConnectionAnswer,
  { credentials, again }: { credentials: readonly CredentialAnswer[]; again: () => void },
): Form => ({
  title: `Change ${plainText(loginName(login))}`,
  // A credential can be replaced by another one, and not be taken away.
  fields: shared(credentials, login).map((field) =>
    field.kind === "choice" && login.credential ? { ...field, options: field.options.slice(1) } : field,
  ),
  action: "Save the change",
  async send(_given, { credential, ...changed }) {
    const body = { ...changed, ...(typeof credential === "string" && { credential: { name: credential } }) };
    await call("PATCH", `/auth/connections/${inPath(login.id)}`, { body });
    again();
    return { said: "The login is changed." };
  },
});
