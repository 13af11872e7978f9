import type { ProfileRecord } from "../../core/model/sessions/profile-record.ts";
import { createdAt, updatedAt, wireId, wireName } from "../../platform/kinds/identity.ts";
import type { Profile } from "./profile.ts";

/** The later of the change of the name and the save of the contents. Both are RFC 3339 in UTC. */
const changedAt = (profile: Profile): string => {
  const times = [updatedAt(profile), profile.status?.savedTime ?? ""];
  return times.sort((a, b) => (Date.parse(a) || 0) - (Date.parse(b) || 0)).at(-1) ?? createdAt(profile);
};

/** A profile as HTTP answers show it. */
export const profileAnswer = (profile: Profile): ProfileRecord => ({
  id: wireId(profile),
  name: wireName(profile) ?? null,
  created_at: createdAt(profile),
  updated_at: changedAt(profile),
  ...(profile.status?.lastUsedTime && { last_used_at: profile.status.lastUsedTime }),
});
