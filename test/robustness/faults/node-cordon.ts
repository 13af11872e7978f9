import { nodes } from "../../../src/platform/kube/resource-type.ts";
import { eventually } from "../../support/eventually.ts";
import type { Topology } from "../topology.ts";
import type { Fault } from "./fault.ts";

/** Another fault may have the API server away just now. */
const cordon = ({ kube, nodeName }: Topology, isOn: boolean): Promise<unknown> =>
  eventually(`the node is ${isOn ? "" : "un"}cordoned`, () =>
    kube.patch(nodes, { name: nodeName }, { spec: { unschedulable: isOn ? true : null } }).catch(() => undefined),
  );

/**
 * The one node is cordoned, as before a drain, and of use again: idle browsers go, those in use when their leases end.
 */
export const nodeCordon: Fault = {
  parts: ["agents"],
  lengthMs: [300, 4000],
  async run({ topology, hold, begin }) {
    begin({ node: topology.nodeName });
    await cordon(topology, true);
    await hold();
    await cordon(topology, false);
  },
};
