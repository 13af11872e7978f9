import type { Random } from "../random.ts";
import type { Replica } from "../topology/replica.ts";
import type { Topology } from "../topology.ts";

/** The replicas whose ways a fault hits: all of them, or one. */
export const hitReplicas = ({ apis, operators }: Topology, random: Random): Replica[] => {
  const all = [...apis, ...operators];
  return random.chance(0.5) ? all : [random.pick(all)];
};

export const namesOf = (replicas: Replica[]): string[] => replicas.map(({ name }) => name);
