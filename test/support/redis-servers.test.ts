import { expect, test } from "vitest";
import { clientOf } from "./redis-servers.ts";

test.each([
  ["/usr/bin/redis-server", "/usr/bin/redis-cli"],
  ["/opt/valkey-server/bin/valkey-server", "/opt/valkey-server/bin/valkey-cli"],
])("the client that goes with %s is %s", (server, client) => expect(clientOf(server)).toBe(client));
