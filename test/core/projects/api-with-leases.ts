import { type LeaseParts, startLeaseParts } from "../../support/lease-parts.ts";
import { type OrgApi, startOrgApi } from "./org-api.ts";

export type ApiWithLeases = OrgApi & { parts: LeaseParts };

/** The HTTP API of an organization of its own, and the lease store of its Redis. */
export const startApiWithLeases = async (settings?: Record<string, string>): Promise<ApiWithLeases> => {
  const [api, parts] = await Promise.all([startOrgApi(settings), startLeaseParts()]);
  return {
    ...api,
    parts,
    async [Symbol.asyncDispose]() {
      await parts[Symbol.asyncDispose]();
      await api[Symbol.asyncDispose]();
    },
  };
};
