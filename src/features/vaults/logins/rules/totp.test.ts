import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { normalizeTotpSecret, totpCode } from "./totp.ts";

/** The ASCII text `12345678901234567890` of RFC 6238, appendix B. */
const rfcSecret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";

const run = (program: string, ...args: string[]) => promisify(execFile)(program, args, { timeout: 10_000 });

const hasOathtool = await run("oathtool", "--version").then(
  () => true,
  () => false,
);

// FILL-39
describe("a code", () => {
  // The appendix gives 8 digits; 6 are the last ones of them.
  test.each([
    [59, "94287082"],
    [1111111109, "07081804"],
    [1111111111, "14050471"],
    [1234567890, "89005924"],
    [2000000000, "69279037"],
    [20000000000, "65353130"],
  ])("at %i s is that of RFC 6238", (seconds, digits) =>
    expect(totpCode(rfcSecret, seconds * 1000)?.code).toBe(digits.slice(2)),
  );

  test("is good until its step of 30 s ends", () => {
    expect(totpCode(rfcSecret, 59_999)).toMatchObject({ code: "287082", expiresAtMs: 60_000 });
    expect(totpCode(rfcSecret, 60_000)?.expiresAtMs).toBe(90_000);
    expect(totpCode(rfcSecret, 60_000)?.code).not.toBe("287082");
  });

  test("comes of a secret as it is shown", () =>
    expect(totpCode("gezd gnbv gy3t qojq-gezd gnbv gy3t qojq", 59_000)?.code).toBe("287082"));

  test.skipIf(!hasOathtool)("is that of oathtool, whatever the length of the secret", async () => {
    for (const secret of ["AE", "JBSWY3DPEHPK3PXP", rfcSecret, "MFRGGZDFMZTWQ2LKNNWG23TPOBYXE43U"])
      for (const seconds of [0, 1_000_000_000, 1_763_740_800]) {
        const { stdout } = await run("oathtool", "--totp", "--base32", `--now=@${seconds}`, secret);
        expect(totpCode(secret, seconds * 1000)?.code).toBe(stdout.trim());
      }
  });
});

// CREDENTIAL-9
describe("a secret", () => {
  test.each([
    ["jbsw y3dp ehpk 3pxp", "JBSWY3DPEHPK3PXP"],
    ["JBSW-Y3DP-EHPK-3PXP", "JBSWY3DPEHPK3PXP"],
    [" GEZDGNBV\n", "GEZDGNBV"],
    ["MFRGG===", "MFRGG"],
  ])("%j is read as sites show it", (text, base32) => expect(normalizeTotpSecret(text)).toBe(base32));

  test.each(["", "   ", "====", "JBSWY3DPEHPK3PX1", "JBSW=Y3D", "A", "ABC", "ABCDEF", "é", "A".repeat(264)])(
    "%j is none",
    (text) => expect([normalizeTotpSecret(text), totpCode(text, 0)]).toEqual([undefined, undefined]),
  );
});
