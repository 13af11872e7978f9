import { supportedSpec } from "../../domain/connection-support.ts";
import { type AuthConnection, AuthConnectionSpec, connectionStatus } from "../../resources/auth-connection.ts";
import type { ConnectionRecord } from "../../resources/auth-connection-wire.ts";
import { createdAt, updatedAt, wireId } from "../../resources/identity.ts";
import { toWire } from "../../resources/wire.ts";

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
