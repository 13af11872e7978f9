/** Profiles over HTTP; field names as on the wire (the SDK's `profiles`). */
import { z } from "zod";
import { nameOnWire } from "../../platform/kinds/selector.ts";

const name = nameOnWire;

export const CreateProfile = z.object({
  name: name.optional().describe("The profile's name, unique within the project."),
});
export type CreateProfile = z.infer<typeof CreateProfile>;

export const UpdateProfile = z.object({
  name: name.describe("The new name. Refused while a pool refers to the profile by the old one."),
});
export type UpdateProfile = z.infer<typeof UpdateProfile>;

export const ProfileRecord = z.object({
  id: z.string().describe("The profile's id."),
  name: z.string().nullable().describe("The profile's name; null when it has none."),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime().describe("When its name or its contents last changed."),
  last_used_at: z.iso.datetime().optional().describe("When a browser last started with it. Left out: never."),
});
export type ProfileRecord = z.infer<typeof ProfileRecord>;

/** The forms of a download: the stored archive, or the same without compression. */
export const ProfileFormat = z.enum(["tar.zst", "tar"]);
export type ProfileFormat = z.infer<typeof ProfileFormat>;
