import type { StoredArchive } from "../../core/setups/referents.ts";
import { AppError, unavailable } from "../../platform/base/errors.ts";
import { retry } from "../../platform/base/retry.ts";
import { wireId, wireName } from "../../platform/kinds/identity.ts";
import type { Kube } from "../../platform/kube/client.ts";
import { isSeen, type Profile, profileArchive, profileKind } from "./profile.ts";

/** How long a new profile may take until the operator has seen it, and the pause between two looks, ms. */
const seenMs = 5000;
const pauseMs = 100;

/**
 * The archive of the profile's present version, if there is one yet. A profile that was made a moment ago may be one
 * that comes back, so a browser that starts without its contents would later save over them. Throws `unavailable` when
 * the operator does not say in time what the store has of it.
 */
export const findContents = async (profile: Profile, { kube }: { kube: Kube }): Promise<StoredArchive | undefined> => {
  let current: Profile | undefined = profile;
  const look = async (): Promise<StoredArchive | undefined> => {
    if (current && isSeen(current)) return profileArchive(current);
    current = await kube.get(profileKind, profile.metadata);
    if (!current || isSeen(current)) return current && profileArchive(current);
    throw unavailable(`what is saved in the profile ${wireName(profile) ?? wireId(profile)}`);
  };
  const isCurable = (error: unknown): boolean => error instanceof AppError && error.code === "unavailable";
  return retry(look, { isCurable, pauseMs: () => pauseMs, withinMs: seenMs });
};
