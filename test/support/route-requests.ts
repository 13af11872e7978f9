/**
 * A request for every route of the API that does what the route is for. The objects that it names are new for each
 * request.
 */
import { readFileSync } from "node:fs";
import { parse } from "yaml";
import type { Route } from "../../src/core/http/route.ts";
import { newId } from "../../src/core/objects/new-id.ts";
import { analysisName, siteAnalysisKind } from "../../src/features/sites/analyses/site-analysis.ts";
import { filledPool } from "./filled-pool.ts";
import { ownAddress } from "./own-address.ts";
import type { Stack } from "./stack.ts";
import { writeZip } from "./zip-writer.ts";

export type RouteRequest = { path: string; body?: unknown };

export type RouteRequests = {
  /** `more`: further fields of the body. */
  of(route: Route, more?: object): Promise<RouteRequest>;
  /** Takes a session that a request got, so that `endSessions` ends it too. */
  own(session: string): void;
  /** Ends the sessions that were made for requests. */
  endSessions(): Promise<void>;
};

// biome-ignore lint/suspicious/noExplicitAny: tests name the fields that they use
type Body = any;

/** The text of an answer. Of a stream, which may have no end, only the head is waited for: its text is empty. */
export const textOf = async (response: Response): Promise<string> => {
  if (!response.headers.get("content-type")?.startsWith("text/event-stream")) return response.text();
  await response.body?.cancel();
  return "";
};

const adminToken = (kubeconfigPath: string): string => {
  const { users } = parse(readFileSync(kubeconfigPath, "utf8")) as { users: [{ user: { token: string } }] };
  return users[0].user.token;
};

/** `formUrl`: a page with one field `#user`. */
export const createRouteRequests = async (stack: Stack, formUrl: string): Promise<RouteRequests> => {
  const { kernel } = stack;
  const filled = await filledPool(kernel, { size: 2 });
  const sessions: string[] = [];
  const call = async (method: string, path: string, body?: unknown): Promise<Body> => {
    const response = await stack.call(method, path, body);
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.json();
  };
  const fresh = (what: string): string => `${what}-${newId()}`;

  const pool = async (): Promise<string> =>
    (await kernel.browserPools.create({ size: 1, fill_rate_per_minute: 0, headless: true })).id;
  const session = async (): Promise<string> => {
    const { session_id } = await kernel.browserPools.acquire(filled.id, { acquire_timeout_seconds: 30 });
    sessions.push(session_id);
    return session_id;
  };
  /** A session that has the file /tmp/file, and the folder /tmp/folder. */
  const sessionWithFile = async (): Promise<string> => {
    const id = await session();
    await kernel.browsers.fs.writeFile(id, "contents", { path: "/tmp/file" });
    await kernel.browsers.fs.createDirectory(id, { path: "/tmp/folder" });
    return id;
  };
  const watch = async (): Promise<string[]> => {
    const id = await session();
    return [id, (await kernel.browsers.fs.watch.start(id, { path: "/tmp" })).watch_id ?? ""];
  };
  /** A process that runs, on a terminal. */
  const runningProcess = async (): Promise<string[]> => {
    const id = await session();
    const { key } = await call("POST", "/org/api_keys", { name: fresh("key"), permissions: ["processes:run"] });
    const path = `/browsers/${id}/process/spawn`;
    const asked = { command: "sleep 60", allocate_tty: true };
    const response = await stack.call("POST", path, asked, { authorization: `Bearer ${key}` });
    return [id, ((await response.json()) as { process_id: string }).process_id];
  };
  const customTools = () => ({
    namespace: "tools",
    source: `[{ match: { url_patterns: ["*"] }, tool: { name: "one", description: "Says 1", inputSchema: {} }, execute: () => 1 }]`,
  });
  const customTool = async (): Promise<string[]> => {
    const id = await session();
    const { tools } = await call("POST", `/browsers/${id}/webmcp/custom-tools`, customTools());
    return [id, tools[0].id];
  };
  const filesForm = (): FormData => {
    const form = new FormData();
    form.append("files[0][dest_path]", "/tmp/other");
    form.append("files[0][file]", new Blob(["contents"]), "other");
    return form;
  };
  const zipForm = (): FormData => {
    const form = new FormData();
    form.append("dest_path", "/tmp/unpacked");
    form.append("zip_file", new Blob([new Uint8Array(writeZip([{ name: "file", content: "x" }]))]), "files.zip");
    return form;
  };
  const vault = async (): Promise<string> => (await call("POST", "/vaults", { name: fresh("vault") })).id;
  const credential = (): Promise<{ id: string; name: string }> =>
    kernel.credentials.create({
      name: fresh("login"),
      domain: "shop.example",
      values: { user: "alice" },
      totp_secret: "JBSWY3DPEHPK3PXP",
    });
  const connectionBody = async () => ({
    domain: "shop.example",
    profile_name: fresh("profile"),
    credential: { name: (await credential()).name },
  });
  const connection = async (): Promise<string> => (await kernel.auth.connections.create(await connectionBody())).id;
  const itemBody = async () => ({
    type: "credential",
    spec: { provider: "managed_auth", connection_id: await connection() },
  });
  const item = async (): Promise<{ vault: string; key: string }> => {
    const place = { vault: await vault(), key: fresh("item") };
    await call("PUT", `/vaults/${place.vault}/items/${place.key}`, await itemBody());
    return place;
  };
  const proxyBody = () => ({ type: "custom", config: { host: ownAddress(), port: 9, password: "p" } });
  const proxy = async (): Promise<string> => (await call("POST", "/proxies", proxyBody())).id;
  const destinationBody = () => ({ name: fresh("destination"), endpoint: "https://otel.example" });
  const destination = async (): Promise<string> =>
    (await call("POST", "/telemetry/destinations", destinationBody())).id;
  const project = async (): Promise<string> => (await kernel.projects.create({ name: fresh("project") })).id;
  const extensionForm = (): FormData => {
    const form = new FormData();
    const manifest = { manifest_version: 3, name: "Sample", version: "1.0" };
    const archive = writeZip([{ name: "manifest.json", content: JSON.stringify(manifest) }]);
    form.append("file", new Blob([new Uint8Array(archive)]), "extension.zip");
    return form;
  };
  const holderExtensionForm = (): FormData => {
    const form = new FormData();
    form.append("extensions[0][name]", "sample");
    form.append("extensions[0][zip_file]", extensionForm().get("file") as Blob, "extension.zip");
    return form;
  };
  const extension = async (): Promise<string> => (await call("POST", "/extensions", extensionForm())).id;
  const analysis = async (): Promise<string> => {
    const host = `${fresh("www")}.example`;
    const target = { normalized: `https://${host}/`, host, domain: host };
    const metadata = { name: analysisName(target.normalized) };
    const { authorization } = await call("GET", "/auth/context");
    await stack.kube.create(siteAnalysisKind, {
      metadata,
      spec: {
        target,
        run: 1,
        requestedAt: new Date().toISOString(),
        project: authorization.effective_scope.project_id,
      },
    });
    return metadata.name;
  };
  /** A recording that has ended. */
  const replay = async (): Promise<string[]> => {
    const id = await session();
    const { replay_id } = await call("POST", `/browsers/${id}/replays`, {});
    await stack.call("POST", `/browsers/${id}/replays/${replay_id}/stop`);
    return [id, replay_id];
  };
  const apiKey = async (): Promise<string> => (await kernel.apiKeys.create({ name: fresh("key") })).id;

  /** By the token of the tests, for the Secrets of their namespace. One at a time: there may not be many. */
  const providerBody = async () => {
    for (const { id } of await call("GET", "/org/credential_providers"))
      await stack.call("DELETE", `/org/credential_providers/${id}`);
    const token = adminToken(stack.kubeconfig);
    return { name: fresh("provider"), provider_type: "kubernetes", namespace: stack.namespace, token };
  };
  const provider = async (): Promise<string> =>
    (await call("POST", "/org/credential_providers", await providerBody())).id;

  const fillRequest = async (): Promise<RouteRequest> => {
    const place = await item();
    const browser = await call("POST", "/browsers", {
      headless: true,
      vaults: [{ id: place.vault }],
      start_url: formUrl,
    });
    sessions.push(browser.session_id);
    return {
      path: `/vaults/${place.vault}/items/${place.key}/operations`,
      body: { type: "fill", browser_id: browser.session_id, fields: [{ field: "user", selector: "#user" }] },
    };
  };

  /** Bodies by operation; the others have none. */
  const bodies: Record<string, () => object | Promise<object>> = {
    createBrowserPool: () => ({ name: fresh("pool"), size: 1, fill_rate_per_minute: 0 }),
    updateBrowserPool: () => ({ timeout_seconds: 123 }),
    acquireBrowser: () => ({ acquire_timeout_seconds: 30 }),
    createBrowser: () => ({ headless: true }),
    updateBrowser: () => ({ tags: { changed: "yes" } }),
    uploadFiles: filesForm,
    uploadZip: zipForm,
    createFolder: () => ({ path: "/tmp/new" }),
    deleteFile: () => ({ path: "/tmp/file" }),
    deleteFolder: () => ({ path: "/tmp/folder" }),
    moveFile: () => ({ src_path: "/tmp/file", dest_path: "/tmp/moved" }),
    execProcess: () => ({ command: "true" }),
    spawnProcess: () => ({ command: "true" }),
    writeProcessInput: () => ({ data_b64: "YQ==" }),
    resizeProcess: () => ({ cols: 80, rows: 24 }),
    killProcess: () => ({ signal: "KILL" }),
    executePlaywright: () => ({ code: "return 1" }),
    runRepl: () => ({ code: "1" }),
    setFilePermissions: () => ({ path: "/tmp/file", mode: "600" }),
    startWatch: () => ({ path: "/tmp" }),
    addCustomTools: customTools,
    sendRequest: () => ({ url: formUrl }),
    clickMouse: () => ({ x: 1, y: 1 }),
    moveMouse: () => ({ x: 1, y: 1 }),
    dragMouse: () => ({
      path: [
        [1, 1],
        [2, 2],
      ],
    }),
    scroll: () => ({ x: 1, y: 1, delta_y: 1 }),
    pressKey: () => ({ keys: ["a"] }),
    typeText: () => ({ text: "a" }),
    setCursorVisibility: () => ({ hidden: true }),
    captureScreenshot: () => ({}),
    writeClipboard: () => ({ text: "a" }),
    runActions: () => ({ actions: [{ type: "sleep", sleep: { duration_ms: 1 } }] }),
    upsertVault: () => ({ name: fresh("vault") }),
    createAuthConnection: connectionBody,
    updateAuthConnection: () => ({ save_credentials: false }),
    createCredential: () => ({ name: fresh("login"), domain: "shop.example", values: { user: "bob" } }),
    uploadExtension: extensionForm,
    loadBrowserExtensions: holderExtensionForm,
    createProfile: () => ({ name: fresh("profile") }),
    lookupConfigRegistry: () => ({ url: "https://www.shop.example/" }),
    resolveConfigRegistry: () => ({ url: "https://www.shop.example/" }),
    updateProfile: () => ({ name: fresh("renamed") }),
    updateCredential: () => ({ values: { user: "carol" } }),
    createProxy: proxyBody,
    updateProxy: () => ({ name: fresh("renamed") }),
    createTelemetryDestination: destinationBody,
    updateTelemetryDestination: () => ({ name: fresh("renamed") }),
    createProject: () => ({ name: fresh("project") }),
    updateProject: () => ({ name: fresh("renamed") }),
    updateProjectLimits: () => ({ max_concurrent_sessions: 7 }),
    updateOrganizationLimits: () => ({ default_project_max_concurrent_sessions: 40 }),
    createCredentialProvider: providerBody,
    updateCredentialProvider: () => ({ name: fresh("renamed") }),
    createApiKey: () => ({ name: fresh("key"), permissions: ["organization"] }),
    updateApiKey: () => ({ name: fresh("renamed") }),
  };

  /** Queries by operation; the others need none. */
  const queries: Record<string, string> = {
    streamBrowserLogs: "?source=supervisor&supervisor_process=chromium",
    listFiles: "?path=/tmp",
    getFileInfo: "?path=/tmp/file",
    readFile: "?path=/tmp/file",
    downloadFolder: "?path=/tmp/folder",
    writeFile: "?path=/tmp/written",
    listAuditLogs: "?start=2026-01-01T00:00:00Z&end=2026-01-02T00:00:00Z",
    exportAuditLogs: "?start=2026-01-01T00:00:00Z&end=2026-01-02T00:00:00Z",
    downloadExtensionFromChromeStore: "?url=https://chromewebstore.google.com/detail/x",
  };

  /** Paths by their form; the longest that a route begins with counts. A path without variables stays as it is. */
  const places: Record<string, () => Promise<string[]>> = {
    "/browser_pools/{id_or_name}": async () => [await pool()],
    "/browser_pools/{id_or_name}/acquire": async () => [filled.id],
    "/browsers/{id_or_name}": async () => [await session()],
    "/browsers/{id_or_name}/fs/": async () => [await sessionWithFile()],
    "/browsers/{id_or_name}/fs/watch/{watch_id}": watch,
    "/browsers/{id_or_name}/process/{process_id}": runningProcess,
    "/browsers/{id_or_name}/webmcp/custom-tools/{id}": customTool,
    "/browsers/{id_or_name}/playwright/executors/{name}": async () => [await session(), "default"],
    "/browsers/{id_or_name}/replays/{replay_id}": replay,
    "/vaults/{id_or_name}": async () => [await vault()],
    "/vaults/{id_or_name}/items/{key}": async () => Object.values(await item()),
    "/auth/connections/{id}": async () => [await connection()],
    "/profiles/{id_or_name}": async () => [(await kernel.profiles.create({})).id],
    "/credentials/{id_or_name}": async () => [(await credential()).id],
    "/extensions/{id_or_name}": async () => [await extension()],
    "/proxies/{id_or_name}": async () => [await proxy()],
    "/telemetry/destinations/{id_or_name}": async () => [await destination()],
    "/config-registry/analyses/{id}": async () => [await analysis()],
    "/org/projects/{id}": async () => [await project()],
    "/org/api_keys/{id}": async () => [await apiKey()],
    "/org/credential_providers/{id}": async () => [await provider()],
  };

  const pathOf = async (path: string): Promise<string> => {
    const [form] = Object.keys(places)
      .filter((each) => path.startsWith(each))
      .sort((a, b) => b.length - a.length);
    const values = form === undefined ? [] : ((await places[form]?.()) ?? []);
    return path.replace(/\{\w+\}/g, () => values.shift() ?? "none");
  };

  return {
    async of(route, more) {
      if (route.operationId === "runVaultItemOperation") return fillRequest();
      if (route.operationId === "putVaultItem")
        return { path: `/vaults/${await vault()}/items/${fresh("item")}`, body: await itemBody() };
      if (route.operationId === "releaseBrowser")
        return { path: `/browser_pools/${filled.id}/release`, body: { session_id: await session() } };
      if (route.operationId === "invokeWebmcpTool") {
        const [id] = await customTool();
        const { tools } = await call("GET", `/browsers/${id}/webmcp/tools`);
        return { path: `/browsers/${id}/webmcp/invoke`, body: { tool_ref: tools[0].tool_ref, input: {} } };
      }
      // A rotation passes on what the old key may do.
      if (route.operationId === "rotateApiKey") {
        const { id } = await call("POST", "/org/api_keys", { name: fresh("key"), permissions: ["organization"] });
        return { path: `/org/api_keys/${id}/rotate`, body: {} };
      }
      const path = `${await pathOf(route.path)}${queries[route.operationId] ?? ""}`;
      const body = (await bodies[route.operationId]?.()) ?? (route.body && {});
      return { path, body: more ? { ...body, ...more } : body };
    },
    own: (session) => void sessions.push(session),
    async endSessions() {
      // One that a test has ended is gone.
      for (const id of sessions.splice(0)) await stack.call("DELETE", `/browsers/${id}`);
    },
  };
};
