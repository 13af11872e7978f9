import { originProblems } from "../../../platform/addresses/allowed-origins.ts";
import { invalidInput } from "../../../platform/base/errors.ts";

/** Throws `bad_request` for an origin that is not written as browsers write it. */
export const requireOrigins = ({ allowed_origins }: { allowed_origins?: string[] | null | undefined }): void => {
  const details = originProblems(allowed_origins ?? undefined, "allowed_origins");
  if (details.length > 0) throw invalidInput(details);
};
