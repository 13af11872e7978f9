/** A server in the place of a Vault that takes its time. */
import { expect, test } from "vitest";
import { failure, hostile, storeAt } from "./hostile-vault.ts";

// PROVIDER-16
test("a server that says nothing, or an answer by the byte, is given up on in time", async () => {
  await using silent = await hostile(() => undefined);
  await using slow = await hostile((_request, response) => {
    const timer = setInterval(() => response.write(" "), 100);
    response.once("close", () => clearInterval(timer));
  });
  const beganMs = performance.now();
  for (const error of await Promise.all(
    [silent, slow].map(({ address }) => failure(storeAt(address).read("secret/a"))),
  ))
    expect(error).toMatchObject({
      code: "credential_provider_unavailable",
      message: expect.stringContaining("in time"),
    });
  expect(performance.now() - beganMs).toBeLessThan(20_000);
});
