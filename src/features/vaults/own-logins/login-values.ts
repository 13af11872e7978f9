/** Which value goes into which field: one that a caller has given, a stored one, or a code that is made now. */
import { Sensitive } from "../../../platform/base/sensitive.ts";
import { fetchConnection } from "../connections/connections.ts";
import { totpCode, totpPeriodMs } from "../logins/rules/totp.ts";
import { attemptsOf, noteAttempts } from "./attempts.ts";
import type { Drive } from "./drive.ts";
import { valueNameOf } from "./reading/next-step.ts";
import type { LoginField } from "./reading/read-login-page.ts";

/** Whether codes can be made, and the site takes them. */
export const hasTotp = ({ stored, memory }: Drive): boolean =>
  stored.login.totpSecret !== undefined && !memory.rejected.has("code");

const storedName = ({ stored }: Drive, field: LoginField): string | undefined =>
  valueNameOf(field, [...stored.login.values.keys()]);

/** Where the value of a field comes from; undefined when there is none. */
export const sourceOf =
  (drive: Drive) =>
  (field: LoginField): "given" | "stored" | undefined => {
    if (drive.given.has(field.ref) && !drive.memory.rejected.has(field.ref)) return "given";
    if (field.kind === "code" && hasTotp(drive)) return "stored";
    return storedName(drive, field) === undefined ? undefined : "stored";
  };

/** The value of a field, made when it is typed. */
export const valueFor = (drive: Drive, field: LoginField): (() => Sensitive) => {
  const given = drive.given.get(field.ref);
  if (given) return () => given;
  const { totpSecret, values } = drive.stored.login;
  if (field.kind === "code" && totpSecret)
    return () => new Sensitive(totpCode(totpSecret.reveal(), Date.now())?.code ?? "");
  const value = values.get(storedName(drive, field) ?? "") ?? new Sensitive("");
  return () => value;
};

/** What the browser's telemetry must not have: the values, and the codes of this and of the next period. */
export const maskedOf = (drive: Drive, fields: readonly LoginField[]): string[] =>
  fields.flatMap((field) => {
    const { totpSecret } = drive.stored.login;
    const isCode = field.kind === "code" && totpSecret && !drive.given.has(field.ref);
    if (!isCode) return valueFor(drive, field)().reveal();
    return [0, totpPeriodMs].flatMap((ms) => totpCode(totpSecret.reveal(), Date.now() + ms)?.code ?? []);
  });

/** Counts a try with the stored login, before it is made: it counts whatever becomes of this process. */
export const countAttempt = async (drive: Drive, fields: readonly LoginField[]): Promise<void> => {
  const isTry = fields.some((field) => field.kind === "password" && sourceOf(drive)(field) === "stored");
  if (!isTry || drive.isCounted) return;
  drive.isCounted = true;
  const { mark } = drive.stored;
  const connection = await fetchConnection(drive.flow.connectionId, drive.project, drive.deps);
  const count = attemptsOf(connection, mark) + 1;
  await noteAttempts(connection, { mark, count }, drive.deps);
};
