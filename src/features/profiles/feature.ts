import type { Feature } from "../../core/api/feature.ts";
import { profileController } from "./controller.ts";
import { profileKind } from "./profile.ts";
import {
  createProfileRoute,
  deleteProfileRoute,
  downloadProfileRoute,
  getProfileRoute,
  listProfilesRoute,
  updateProfileRoute,
} from "./routes.ts";

/** Browser states that outlive a session. */
export const profiles = {
  kinds: [profileKind],
  contents: [{ kind: profileKind, what: "profiles" }],
  announced: [{ name: "profile", kind: profileKind, permission: "pools:read" }],
  controllers: [profileController],
  routes: [
    createProfileRoute,
    listProfilesRoute,
    getProfileRoute,
    updateProfileRoute,
    deleteProfileRoute,
    downloadProfileRoute,
  ],
} satisfies Feature;
