/** The look-up of a session in a project with few pools and with many. */
import { request } from "undici";
import { interleaved } from "../interleaved.ts";
import { startService } from "../leases/service.ts";
import type { Bench, Row, Section } from "../section.ts";
import { summarize } from "../statistics.ts";

const few = 10;
const many = 500;
/** Nobody's id and nobody's name. */
const unknownName = "nobody-has-this-name";

const measure = async (bench: Bench) => {
  await using service = await startService({ size: 2 }, bench);
  const { api, pool, target } = service;
  const named = `session-of-the-bench`;
  const session = (await (await api.call("POST", `/browser_pools/${pool.id}/acquire`, { name: named })).json()) as {
    session_id: string;
  };
  const seconds = bench.seconds(10);
  const lookUp = async (what: string, wanted: number): Promise<void> => {
    const { statusCode, body } = await request(`${target.url}/browsers/${what}`, {
      headers: { authorization: `Bearer ${target.apiKey}` },
    });
    await body.dump();
    if (statusCode !== wanted) throw new Error(`the look-up of ${what} was answered with ${statusCode}`);
  };
  const variants = {
    "by id": () => lookUp(session.session_id, 200),
    "by name": () => lookUp(named, 200),
    "by a name that nobody has": () => lookUp(unknownName, 404),
  };
  const timesWith = async (count: number) => {
    bench.say(`with ${count} pools`);
    return interleaved({ seconds, batch: 5, random: bench.random(), signal: bench.signal }, variants);
  };
  const addPools = async (count: number): Promise<void> => {
    for (let made = 0; made < count; made++) await api.call("POST", "/browser_pools", { size: 0, headless: true });
  };
  await addPools(few - 1);
  const before = await timesWith(few);
  await addPools(many - few);
  const after = await timesWith(many);
  const rows = (Object.keys(variants) as (keyof typeof variants)[]).flatMap((name): Row[] => {
    const [floor, now] = [summarize(before[name]), summarize(after[name])];
    return [
      {
        what: `look-up ${name}, p50 with ${many} pools`,
        unit: "ms",
        measured: now.p50,
        floor: { what: `with ${few} pools`, value: floor.p50 },
        target: { of: "ratio", atMost: 1.2 },
      },
    ];
  });
  return { rows };
};

export const section: Section = {
  name: "lookup",
  summary: `sessions are looked up in a project with ${few} pools, then with ${many}`,
  run: measure,
};
