/** Pools with kubectl, as a user works with them who knows Kubernetes and not this service. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { dirname } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { locatePrograms } from "../../src/local/locate-programs.mjs";
import { eventually } from "../support/eventually.ts";
import { untilAvailable } from "../support/filled-pool.ts";
import { withCdp } from "../support/raw-cdp.ts";
import { type Stack, startStack } from "../support/stack.ts";

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack?.[Symbol.asyncDispose]());

type Ran = { code: number | null; out: string; err: string };

const kubectl = async (args: string[], input?: string): Promise<Ran> => {
  const inProject = ["--namespace", stack.namespace, ...args];
  const child = spawn(locatePrograms(process.env).kubectl ?? "kubectl", inProject, {
    // kubectl's cache is beside the kubeconfig, so that it is removed with it.
    env: { ...process.env, KUBECONFIG: stack.kubeconfig, HOME: dirname(stack.kubeconfig) },
  });
  child.stdin.end(input ?? "");
  const [[code], out, err] = await Promise.all([once(child, "exit"), text(child.stdout), text(child.stderr)]);
  return { code: code as number | null, out, err };
};

/** Runs kubectl and expects success. */
const done = async (args: string, input?: string): Promise<string> => {
  const { code, out, err } = await kubectl(args.split(" "), input);
  expect({ code, err }).toMatchObject({ code: 0 });
  return out;
};

const yamlOf = (name: string, spec: object): string =>
  stringify({ apiVersion: "browserpool.dev/v1alpha1", kind: "BrowserPool", metadata: { name }, spec });

/** A pool without browsers. */
const idle = { size: 1, headless: true, fillRatePerMinute: 0 };

const apply = (name: string, spec: object): Promise<Ran> => kubectl(["apply", "-f", "-"], yamlOf(name, spec));

const waitFor = (name: string, condition: string): Promise<string> =>
  done(`wait --timeout=30s --for=${condition} bp/${name}`);

const path = async (name: string, jsonPath: string): Promise<string> => done(`get bp ${name} -o jsonpath=${jsonPath}`);

const columnsOf = async (name: string): Promise<Record<string, string>> => {
  const [head = "", line = ""] = (await done(`get bp ${name}`)).split("\n");
  const values = line.trim().split(/\s+/);
  return Object.fromEntries(
    head
      .trim()
      .split(/\s+/)
      .map((column, i) => [column, values[i] ?? ""]),
  );
};

describe("kubectl", () => {
  // POOL-25, HTTP-11
  test("applies a pool, waits until it is ready, shows, scales and deletes it; HTTP hands out its browsers", async () => {
    expect(await done("apply -f -", yamlOf("demo", { size: 2, headless: true, fillRatePerMinute: 6000 }))).toContain(
      "browserpool.browserpool.dev/demo created",
    );
    await waitFor("demo", "condition=Ready");
    expect(await columnsOf("demo")).toMatchObject({
      NAME: "demo",
      SIZE: "2",
      AVAILABLE: "2",
      ACQUIRED: "0",
      WAITING: "0",
      READY: "True",
    });
    const session = await stack.kernel.browserPools.acquire("demo", {});
    expect(session.pool).toEqual({ id: "demo", name: "demo" });
    const { product } = await withCdp(session.cdp_ws_url, (cdp) => cdp.send("Browser.getVersion"));
    expect(`HeadlessChrome/${(await columnsOf("demo")).CHROMIUM}`).toBe(product);
    expect(await path("demo", "{.status.chromiumVersions[*].browsers}")).toBe("2");
    await waitFor("demo", "jsonpath={.status.acquired}=1");
    expect(await columnsOf("demo")).toMatchObject({ AVAILABLE: "1", ACQUIRED: "1", READY: "True" });
    await stack.kernel.browserPools.release("demo", { session_id: session.session_id });

    await done("scale bp/demo --replicas=3");
    await untilAvailable(stack.kernel, "demo", 3);
    expect(await columnsOf("demo")).toMatchObject({ SIZE: "3" });
    await done("scale bp/demo --replicas=1");
    await waitFor("demo", "jsonpath={.status.replicas}=1");

    expect(await done("delete bp demo --timeout=30s")).toContain("deleted");
    expect((await kubectl(["get", "bp", "demo"])).err).toContain("NotFound");
    await eventually("no pod is left", async () => !(await done("get pods -o name")).includes("pod/demo-"));
    await expect(stack.kernel.browserPools.retrieve("demo")).rejects.toMatchObject({ status: 404 });
  });

  // POOL-15
  test("keeps a deleted pool whose browser is in use until the lease ends", async () => {
    // Fails when the browser does not answer, or a wait of kubectl runs out: for the reason, or for the end after the
    // release.
    await apply("busy", { size: 1, headless: true, fillRatePerMinute: 6000 });
    await waitFor("busy", "condition=Ready");
    const { session_id, cdp_ws_url } = await stack.kernel.browserPools.acquire("busy", {});
    await done("delete bp busy --wait=false");
    await waitFor("busy", 'jsonpath={.status.conditions[?(@.type=="Ready")].reason}=Deleting');
    await withCdp(cdp_ws_url, (cdp) => cdp.send("Browser.getVersion"));
    await stack.kernel.browserPools.release("busy", { session_id });
    await waitFor("busy", "delete");
  });

  // POOL-25
  test("explains every field of a pool", async () => {
    const spec = await done("explain bp.spec");
    for (const field of ["size", "fillRatePerMinute", "timeoutSeconds", "headless", "viewport", "chromePolicy"])
      expect(spec).toMatch(new RegExp(`^ {2}${field}\\s`, "m"));
    expect(await done("explain bp.spec.fillRatePerMinute")).toMatch(/0 pauses\s+filling/);
    expect(await done("explain bp.status")).toContain("nextStartTime");
  });

  // HTTP-11, AUTH-5
  test("gets pools that HTTP created, by the id that HTTP answers", async () => {
    const { id } = await stack.kernel.browserPools.create({ size: 1, headless: true, fill_rate_per_minute: 0 });
    expect(await path(id, "{.spec.headless}")).toBe("true");
    await done(`patch bp ${id} --type=merge -p {"spec":{"timeoutSeconds":55}}`);
    expect((await stack.kernel.browserPools.retrieve(id)).browser_pool_config.timeout_seconds).toBe(55);
    await done(`delete bp ${id} --timeout=30s`);
  });

  // HTTP-12
  test("can give a pool another pool's id as its name: HTTP reads the pool with that id", async () => {
    await done("apply -f -", yamlOf("front", { ...idle, name: "else" }));
    await done("apply -f -", yamlOf("back", { ...idle, name: "front" }));
    expect((await stack.kernel.browserPools.retrieve("front")).id).toBe("front");
    expect((await stack.kernel.browserPools.retrieve("else")).id).toBe("front");
    await done("delete bp front --timeout=30s");
    expect((await stack.kernel.browserPools.retrieve("front")).id).toBe("back");
    await done("delete bp back --timeout=30s");
  });
});

describe("a vault", () => {
  test("of the sample becomes ready under local mode's operator, and kubectl explains it", async () => {
    const sample = new URL("../../manifests/samples/vault.yaml", import.meta.url).pathname;
    await done(`apply -f ${sample}`);
    await done("wait --timeout=30s --for=condition=Ready vi/team-shop ac/shop-alice cred/shop vlt/team");
    const item = await stack.call("GET", "/vaults/team/items/shop");
    expect(await item.json()).toMatchObject({ key: "shop", state: { status: "ready" } });
    // The operator deletes the items of a deleted vault, perhaps before kubectl comes to them.
    await done(`delete -f ${sample} --ignore-not-found --timeout=30s`);
    for (const kind of ["vlt", "vi", "cred", "ac"]) expect(await done(`explain ${kind}.spec`)).toContain("FIELDS:");
  });
});

describe("a pool that breaks a rule is refused by the API server, and the field is named", () => {
  // POOL-24, POOL-PATCH-10
  test.each([
    ["spec.size", { size: 0 }],
    ["spec.size", { size: "two" }],
    ["spec.size", { headless: true }],
    ["spec.fillRatePerMinute", { size: 1, fillRatePerMinute: -1 }],
    ["spec.timeoutSeconds", { size: 1, timeoutSeconds: 5 }],
    ["spec.memory", { size: 1, memory: "4GiB" }],
    ["spec.viewport.height", { size: 1, viewport: { width: 1 } }],
    ["spec.name", { size: 1, name: "has space" }],
    ["spec.refreshOnProfileUpdate", { size: 1, refreshOnProfileUpdate: true }],
    ["spec.sise", { size: 1, sise: 2 }],
  ])("%s: %j", async (field, spec) => {
    const { code, err } = await apply("bad", spec);
    expect(code).toBe(1);
    expect(err).toContain(field);
    expect((await kubectl(["get", "bp", "bad"])).err).toContain("NotFound");
  });
});

describe("a pool that can't be carried out says so in its Accepted condition", () => {
  const conditionOf = async (name: string): Promise<string> => {
    await waitFor(name, "condition=Accepted=false");
    return path(
      name,
      '{.status.conditions[?(@.type=="Accepted")].reason}:{.status.conditions[?(@.type=="Accepted")].message}',
    );
  };

  // POOL-18, POOL-24
  test.each([
    ["PooledSessionsLimit", "spec.size", { ...idle, size: 51 }],
    ["FillRateAboveCap", "spec.fillRatePerMinute", { ...idle, fillRatePerMinute: 6001 }],
    ["ReferenceNotFound", "spec.profile", { ...idle, profile: { name: "nobody" } }],
    ["ReferenceNotFound", "spec.extensions[0]", { ...idle, extensions: [{ name: "none" }] }],
    ["InvalidSpec", "spec.network.privateHosts[0]", { ...idle, network: { privateHosts: ["8.8.8.8"] } }],
    ["InvalidSpec", "spec.chromePolicy.ProxyMode", { ...idle, chromePolicy: { ProxyMode: "direct" } }],
    ["InvalidSpec", "spec.chromePolicy.HomepageLocation", { ...idle, chromePolicy: { HomepageLocation: 5 } }],
  ])("%s for %s, starts no browser, and recovers when it is corrected", async (reason, field, spec) => {
    await done("apply -f -", yamlOf("odd", spec));
    const condition = await conditionOf("odd");
    expect(condition).toContain(`${reason}:`);
    expect(condition).toContain(field);
    expect(await path("odd", "{.status.replicas}")).toBe("0");
    await done("apply -f -", yamlOf("odd", idle));
    await waitFor("odd", "condition=Accepted");
    await done("delete bp odd --timeout=30s");
  });

  // HTTP-31, PROXY-1, PROXY-11
  test("ReferenceNotFound until the proxy is there, and ReferenceAmbiguous when it is there twice", async () => {
    const proxyYaml = (name: string): string =>
      yamlOf(name, { name: "Office 1", type: "custom", custom: { host: "proxy.example", port: 3128 } }).replace(
        "BrowserPool",
        "Proxy",
      );
    const network = { proxyRoutes: [{ hosts: ["a.test"], proxy: { name: "Office 1" } }] };
    await done("apply -f -", yamlOf("routed", { ...idle, network }));
    expect(await conditionOf("routed")).toBe(
      "ReferenceNotFound:spec.network.proxyRoutes[0].proxy: no proxy with name Office 1 in this project",
    );
    await done("apply -f -", proxyYaml("px-one"));
    await waitFor("routed", "condition=Accepted");
    await done("apply -f -", proxyYaml("px-two"));
    expect(await conditionOf("routed")).toMatch(/^ReferenceAmbiguous:.*px-.*give the id/);
    await done("delete px px-one --timeout=30s");
    await waitFor("routed", "condition=Accepted");
    await done("delete px px-two --timeout=30s");
    expect(await conditionOf("routed")).toMatch(/^ReferenceNotFound:/);
    await done("delete bp routed --timeout=30s");
  });

  // HTTP-16
  test("NameTaken for the younger of two, which gets the name when the older is deleted", async () => {
    await done("apply -f -", yamlOf("older", { ...idle, name: "wanted" }));
    await waitFor("older", "condition=Accepted");
    await done("apply -f -", yamlOf("younger", { ...idle, name: "wanted" }));
    expect(await conditionOf("younger")).toMatch(/^NameTaken:.*spec\.name/);
    expect((await stack.kernel.browserPools.retrieve("wanted")).id).toBe("older");
    await done("delete bp older --timeout=30s");
    await waitFor("younger", "condition=Accepted");
    expect((await stack.kernel.browserPools.retrieve("wanted")).id).toBe("younger");
    await done("delete bp younger --timeout=30s");
  });

  // POOL-24, LIMIT-2
  test("PooledSessionsLimit when a running pool is made too large; it keeps its size", async () => {
    await done("apply -f -", yamlOf("grown", { size: 1, headless: true, fillRatePerMinute: 6000 }));
    await waitFor("grown", "condition=Ready");
    await done("scale bp/grown --replicas=60");
    expect(await conditionOf("grown")).toContain("PooledSessionsLimit:");
    expect(await path("grown", "{.status.replicas}/{.status.acceptedSize}/{.status.available}")).toBe("1/1/1");
    await done("delete bp grown --timeout=30s");
  });
});
