import { AppError } from "../../platform/base/errors.ts";
import { retryBriefly } from "../../platform/redis/while-unavailable.ts";
import type { NameOwner, SessionNames } from "../reservations/session-names.ts";

/** The error for a name that another active session of the project has (LEASE-6). */
const sessionNameTaken = (name: string): AppError =>
  new AppError("name_taken", `name: ${name} is the name of another active session of this project`);

/** Reserves the name, if one is wanted, for a session of the project. Throws `name_taken`. */
export const reserveSessionName = async (
  name: string | undefined,
  { owner, projectId }: { owner: NameOwner; projectId: string },
  { names }: { names: SessionNames },
  signal?: AbortSignal,
): Promise<void> => {
  if (name && !(await retryBriefly(() => names.reserve(projectId, name, owner), signal))) throw sessionNameTaken(name);
};
