/** The features that add to each start of Chromium. */
import type { AgentParts } from "../core/agent/running-chromium.ts";
import { extensionPart } from "../features/extensions/agent/start-part.ts";
import { networkPart } from "../features/network/agent/start-part.ts";
import { profilePart } from "../features/profiles/agent/start-part.ts";

/** In this order. */
export const agentParts: AgentParts = {
  prepare: [profilePart, extensionPart, networkPart],
  async loadProfile(file, place, signal) {
    const { loadProfile } = await import("../features/profiles/agent/load-profile.ts");
    await loadProfile(file, place, signal);
  },
};
