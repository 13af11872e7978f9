import type { Project } from "../../../core/projects/projects.ts";
import { wireName } from "../../../platform/kinds/identity.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import type { Credential } from "./credential.ts";
import { fetchCredentials } from "./fetch-credential.ts";

type CredentialQuery = {
  /** Exact. */
  name?: string | undefined;
  /** Exact. */
  domain?: string | undefined;
  /** Part of the name or the domain, case-insensitive, or the exact id. */
  query?: string | undefined;
};

const isWanted = (credential: Credential, { name, domain, query }: CredentialQuery): boolean => {
  const ownName = wireName(credential) ?? "";
  const ownDomain = credential.spec.domain;
  if (name !== undefined && name !== ownName) return false;
  if (domain !== undefined && domain.toLowerCase() !== ownDomain.toLowerCase()) return false;
  const part = query?.toLowerCase() ?? "";
  return `${ownName}\n${ownDomain}`.toLowerCase().includes(part) || credential.metadata.name === query;
};

/** The credentials that match the query, oldest first. */
export const listCredentials = async (
  query: CredentialQuery,
  project: Project,
  deps: { kube: Kube },
): Promise<Credential[]> => (await fetchCredentials(project, deps)).filter((credential) => isWanted(credential, query));
