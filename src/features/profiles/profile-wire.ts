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

/** The forms of a download: the stored archive, or the same without compression. */
export const ProfileFormat = z.enum(["tar.zst", "tar"]);
export type ProfileFormat = z.infer<typeof ProfileFormat>;
