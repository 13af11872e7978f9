import type { CredentialAnswer } from "../../../vaults/credentials/credential.ts";
import { readList } from "./api.ts";
import type { Fetched } from "./use-fetched.ts";
import { useFresh } from "./use-fresh.ts";

/** The credentials of the project, without what they store. */
export const useCredentials = (): Fetched<CredentialAnswer[]> =>
  useFresh("credentials", (signal) => readList<CredentialAnswer>("/credentials", {}, signal), "credential");
