/** browser-use, unchanged, without a model: its session and its tools, as docs/clients.md has them. */
import { expect, test } from "vitest";
import { brokenOff, documented, type Ran, ran } from "./client-run.ts";
import { acquireSession, endVariables, pageTitles, startClientParts } from "./client-session.ts";
import { pythonWithBrowserUse } from "./installed.ts";

const python = await pythonWithBrowserUse();

const at = startClientParts(python !== undefined);

/** In place of the picture's length: the session ends, and what the next action says of it is printed. */
const afterItsEnd = `
        import urllib.request
        headers = {"authorization": os.environ["AUTHORIZATION"]}
        urllib.request.urlopen(urllib.request.Request(os.environ["SESSION"], method="DELETE", headers=headers))
        print((await tools.act(Action(navigate={"url": "about:blank"}), browser)).error)
`;

// HTTP-43
test.skipIf(!python)("browser-use drives a session, leaves it, and says that it has ended", async () => {
  const { id, CDP_WS_URL } = await acquireSession(at.stack, at);
  const env = {
    ...endVariables(at.stack, id),
    CDP_WS_URL,
    HOME: at.cwd,
    TMPDIR: at.cwd,
    ANONYMIZED_TELEMETRY: "false",
    PYTHONDONTWRITEBYTECODE: "1",
  };
  const lines = documented("python", "cdp_url=os", at.shop);
  const run = (input: string): Promise<Ran> => ran(python ?? "", ["-"], { input, env, cwd: at.cwd });
  const { code, stdout, stderr } = await run(lines);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  expect(stdout).toMatch(/found tea\n\d{4,}\n/);
  expect(await pageTitles(at.stack, id)).toEqual(["Shop"]);
  const cut = await run(brokenOff(lines, "        print(len(state.screenshot))\n", afterItsEnd));
  expect(cut.stdout).toContain("Navigation failed");
  const late = await run(lines);
  expect(late.code).toBe(1);
  expect(late.stderr).toContain("server rejected WebSocket connection: HTTP 404");
});
