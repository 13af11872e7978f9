/** Whether a login can be filled, in words. */
import type { ConnectionAnswer } from "../../../vaults/connections/auth-connection.ts";
import type { CredentialAnswer } from "../../../vaults/credentials/credential.ts";
import type { ItemAnswer } from "../../../vaults/vault.ts";
import type { Tone } from "../parts/state.tsx";

/** `why`: a sentence; "" when all is well. `todo`: what helps; "" for nothing. */
type Stand = { tone: Tone; word: string; why: string; todo: string };

/** What a login's connection is called. */
export const loginName = ({ domain, profile_name }: Pick<ConnectionAnswer, "domain" | "profile_name">): string =>
  `${domain} as ${profile_name}`;

/** How a login stands, by the credentials of the project. */
export const loginStand = (
  { status, credential, login_url, save_credentials }: ConnectionAnswer,
  credentials: readonly CredentialAnswer[],
): Stand => {
  if (credential && credential.name === undefined)
    return {
      tone: login_url === undefined ? "warn" : "quiet",
      word: "Elsewhere",
      why: "Its values are at a credential provider, and are read for each login.",
      todo: login_url === undefined ? "Give a login_url, or link a credential of this project." : "",
    };
  const linked = credentials.find(({ name }) => name === credential?.name);
  if (linked?.has_values || linked?.has_totp_secret) return { tone: "good", word: "Ready", why: "", todo: "" };
  if (status === "AUTHENTICATED" && !save_credentials)
    return { tone: "quiet", word: "Not kept", why: "A person has logged in, and nothing was to be kept.", todo: "" };
  return {
    tone: "warn",
    word: "Needs a login",
    why:
      status === "AUTHENTICATED"
        ? "The values that a person gave are gone."
        : credential === undefined
          ? "No login is stored for it yet."
          : "Its credential is missing or has no values.",
    todo: "Begin a login, and send the person who has it the link; or link a credential that has values.",
  };
};

/** How an item of a vault stands. */
export const itemStand = ({ state: { status, status_reason } }: ItemAnswer): Stand => {
  if (status === "ready") return { tone: "good", word: "Ready", why: "", todo: "" };
  const known = { tone: "bad", word: "Can't be filled" } as const;
  if (status_reason === "connection_not_found")
    return {
      ...known,
      why: "Its login was deleted, and does not come back.",
      todo: "Delete the item, and put it in again with another login.",
    };
  if (status_reason === "external_credential")
    return {
      ...known,
      why: "The values of its login are at a credential provider. Nothing is filled from there.",
      todo: "Link a credential of this project to the login.",
    };
  return {
    ...known,
    why: "Its login has no stored values.",
    todo: "Open its login: have a person log in, or link a credential that has values.",
  };
};
