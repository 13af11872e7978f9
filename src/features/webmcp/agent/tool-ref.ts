import { z } from "zod";

// The references of tools: where a registration is, so that the agent keeps none of them. A holder can make one up, and
// reaches by it what its own session shows it anyway.

const Ref = z.tuple([z.enum(["page", "custom"]), z.string(), z.string(), z.string(), z.string()]);

/** `key`: the digest of a page's tool, the id of a custom one. */
export type ToolRef = { isCustom: boolean; targetId: string; frameId: string; loaderId: string; key: string };

/** The reference as a text. */
export const writeRef = ({ isCustom, targetId, frameId, loaderId, key }: ToolRef): string =>
  Buffer.from(JSON.stringify([isCustom ? "custom" : "page", targetId, frameId, loaderId, key])).toString("base64url");

/** Undefined for a text that is none. */
export const readRef = (text: string): ToolRef | undefined => {
  try {
    const [kind, targetId, frameId, loaderId, key] = Ref.parse(JSON.parse(Buffer.from(text, "base64url").toString()));
    return { isCustom: kind === "custom", targetId, frameId, loaderId, key };
  } catch {
    return undefined;
  }
};
