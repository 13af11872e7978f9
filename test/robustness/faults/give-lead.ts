import { eventually } from "../../support/eventually.ts";
import type { Replica } from "../topology/replica.ts";
import type { Topology } from "../topology.ts";

/** Has this operator lead: all others give up the lead to it, and are there again when it resolves. */
export const giveLead = async (replica: Replica, { operators, leader }: Topology): Promise<void> => {
  const others = operators.filter((other) => other !== replica);
  await Promise.all(others.map((other) => other.end("SIGTERM")));
  await eventually(`${replica.name} leads`, async () => (await leader()) === replica);
  await Promise.all(others.map((other) => other.start()));
};
