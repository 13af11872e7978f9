import { createdAt, updatedAt, wireId } from "../../../platform/kinds/identity.ts";
import { toWire } from "../../../platform/kinds/wire.ts";
import { type AuthConnection, AuthConnectionSpec, connectionStatus } from "./auth-connection.ts";
import type { ConnectionRecord } from "./auth-connection-wire.ts";
import { supportedSpec } from "./rules/connection-support.ts";

/** A connection as HTTP answers show it; pure. */
export const connectionAnswer = (connection: AuthConnection): ConnectionRecord => {
  return {
    ...toWire(AuthConnectionSpec, supportedSpec(connection.spec)),
    id: wireId(connection),
    status: connectionStatus(connection),
    created_at: createdAt(connection),
    updated_at: updatedAt(connection),
  };
};
