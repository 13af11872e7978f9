/** The kind Profile: state of a browser (logins, storage) for later browsers; the store of blobs has its contents. */
import { z } from "zod";
import type { StoredArchive } from "../../core/setups/referents.ts";
import { objectKey } from "../../platform/blobs/object-key.ts";
import { Conditions, observedGeneration } from "../../platform/kinds/conditions.ts";
import { apiGroup, type CustomResource, type Kind } from "../../platform/kinds/kind.ts";
import { nameOnWire, objectName } from "../../platform/kinds/selector.ts";

const ProfileSpec = z
  .object({
    name: objectName
      .optional()
      .describe("The profile's name, unique within the project. Left out: metadata.name, unless HTTP made it."),
  })
  .describe("The profile. Its contents come from browsers.");

const time = (what: string) => z.iso.datetime({ precision: 3 }).optional().describe(what);

/** A version is the number of a save. Numbers rise; the number of a failed save is never used again. */
const versionNumber = (what: string) => z.int().min(0).default(0).describe(what);

export const ProfileStatus = z
  .object({
    observedGeneration,
    conditions: Conditions,
    version: versionNumber("The version that browsers start with. 0: nothing was saved yet."),
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .optional()
      .describe("SHA-256 of the version's archive (tar.zst), in hex."),
    sizeBytes: z.int().min(0).optional().describe("The size of the archive, bytes."),
    archive: z
      .string()
      .regex(/^[0-9]{1,15}-[0-9]{1,15}-[0-9a-f]{64}$/)
      .optional()
      .describe(
        "The archive's name in the profile's folder of the store. Left out: it is where older releases put it.",
      ),
    savedTime: time("When the version was saved."),
    browserEndTime: time(
      "When the browser ended whose state the version is. Only the state of a later one replaces it.",
    ),
    lastUsedTime: time("When a browser last started with the profile."),
    claimedVersion: versionNumber("The number of the latest save that has begun."),
    oldestVersion: versionNumber("No version below this one has contents in the store."),
  })
  .describe("The observed state of the profile. Written by the operator.");
export type ProfileStatus = z.infer<typeof ProfileStatus>;

/** The status of a profile that the operator has not seen yet. */
export const emptyProfileStatus: ProfileStatus = { conditions: [], version: 0, claimedVersion: 0, oldestVersion: 0 };

export type Profile = CustomResource<typeof ProfileSpec, typeof ProfileStatus>;

export const profileKind: Kind<typeof ProfileSpec, typeof ProfileStatus> = {
  ...apiGroup,
  kind: "Profile",
  plural: "profiles",
  shortNames: ["prof"],
  namespaced: true,
  description: "The state of a browser (cookies, storage, service workers) that other browsers start with.",
  spec: ProfileSpec,
  status: ProfileStatus,
  printerColumns: [
    { name: "Version", type: "integer", jsonPath: ".status.version" },
    { name: "Bytes", type: "integer", jsonPath: ".status.sizeBytes" },
    { name: "Saved", type: "date", jsonPath: ".status.savedTime" },
    { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: "Reason", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].reason' },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ],
};

/** Whether the operator has looked what the store has of the profile. Before that nobody knows that it is empty. */
export const isSeen = ({ status }: Profile): boolean => status?.observedGeneration !== undefined;

/** The folder of a profile's archives in the store of blobs. */
export const profileFolder = ({ metadata }: Pick<Profile, "metadata">): string => objectKey("profiles", metadata);

/** The folder in which older releases kept a profile's archives. No object but this one has its uid. */
export const formerFolder = ({ metadata }: Pick<Profile, "metadata">): string => `profiles/${metadata.uid}`;

/** The key of the archive that is the profile's version. There may be none. */
export const profileBlobKey = (profile: Profile): string => {
  const { archive, version = 0 } = profile.status ?? {};
  return archive === undefined ? `${formerFolder(profile)}/${version}` : `${profileFolder(profile)}/${archive}`;
};

/** The archive of the profile's present version, if there is one yet. */
export const profileArchive = (profile: Profile): StoredArchive | undefined => {
  const { version = 0, sha256, sizeBytes } = profile.status ?? {};
  if (version === 0 || sha256 === undefined || sizeBytes === undefined) return undefined;
  return { sha256, bytes: sizeBytes, key: profileBlobKey(profile) };
};

// Profiles over HTTP; field names as on the wire (the SDK's `profiles`).

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
