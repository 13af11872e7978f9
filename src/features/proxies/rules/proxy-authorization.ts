import type { ParentProxy } from "../../../core/protocol/browser-setup.ts";

/** The `Proxy-Authorization` for a parent proxy; undefined when it wants none. */
export const credentialsOf = ({ username, password }: ParentProxy): string | undefined =>
  username === undefined && password === undefined
    ? undefined
    : `Basic ${Buffer.from(`${username ?? ""}:${password ?? ""}`).toString("base64")}`;
