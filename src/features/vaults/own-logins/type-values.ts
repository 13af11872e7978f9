/** Types values into the form of a page, by the fill of items. */
import type { AnyLease } from "../../../core/leases/records.ts";
import { devToolsOf } from "../fill/attached-browser.ts";
import { maskValues } from "../fill/fill-item.ts";
import { fillPage } from "../fill/fill-page.ts";
import { type Binding, FillRefused } from "../fill/fill-result.ts";
import type { PageSurvey } from "../fill/page-survey.ts";
import { needPerson } from "./ask.ts";
import { type Drive, isAllowed, write } from "./drive.ts";
import { findLoginSession } from "./login-browser.ts";
import { countAttempt, maskedOf, valueFor } from "./login-values.ts";
import { failed } from "./outcome.ts";
import { noteActed } from "./reading/login-memory.ts";
import type { Step } from "./reading/next-step.ts";
import type { LoginField, LoginPage } from "./reading/read-login-page.ts";

/** For one fill, ms. */
const fillMs = 20_000;

/** What a look at the page has found. */
export type Look = { survey: PageSurvey; page: LoginPage };

const bindingsOf = async (drive: Drive, survey: PageSurvey, fields: readonly LoginField[]): Promise<Binding[]> => {
  const bindings: Binding[] = [];
  for (const field of fields) {
    const selector = await survey.selectorOf(field.place);
    if (selector !== undefined) bindings.push({ selector, value: valueFor(drive, field) });
  }
  return bindings;
};

/** Whether everything was typed, as far as is known. */
const fill = async (
  drive: Drive,
  { survey, page }: Look,
  { bindings, lease }: { bindings: Binding[]; lease: AnyLease },
): Promise<boolean> => {
  const { deps, signal } = drive;
  const origins = new Set(survey.frames.map(({ origin }) => origin));
  try {
    const { status } = await fillPage(
      {
        connect: await devToolsOf(lease, deps),
        timeoutMs: fillMs,
        bindings,
        allowedOrigins: [...origins].filter(isAllowed(drive)),
        ...(page.url.length < 2048 && { pageUrl: page.url }),
      },
      signal,
    );
    return status !== "failed";
  } catch (error) {
    if (!(error instanceof FillRefused)) throw error;
    if (error.code === "origin_not_allowed") throw failed("origin_not_allowed");
    return false;
  }
};

/** Types the values of a step, each of which is noted before. */
export const typeValues = async (drive: Drive, { survey, page }: Look, step: Step & { do: "type" }): Promise<void> => {
  const { fields, form } = step;
  const { deps, memory, project } = drive;
  const bindings = await bindingsOf(drive, survey, fields);
  if (bindings.length < fields.length) return needPerson(drive, "unknown");
  const found = await findLoginSession(drive.flow.session ?? "", project, deps);
  if (!found) throw failed("browser_ended");
  await countAttempt(drive, fields);
  for (const { ref } of fields) {
    memory.typed.add(ref);
    memory.rejected.delete(ref);
  }
  noteActed(memory, page, { nowMs: performance.now(), unsent: fields.map(({ ref }) => ref) });
  await write(drive, { step: "SUBMITTING", fields: [], choices: [], externalMessage: undefined });
  if (form.remember) await survey.press(form.remember.place);
  await maskValues(found.lease, maskedOf(drive, fields), deps);
  const isTyped = await fill(drive, { survey, page }, { bindings, lease: found.lease });
  if (!isTyped) {
    // The page has changed meanwhile, or does not answer: it is looked at again.
    for (const { ref } of fields) memory.typed.delete(ref);
    Object.assign(memory, { sent: undefined, unsent: new Set() });
  }
  // A value that was given is typed once; a code is of no use afterwards.
  for (const { kind, ref } of fields) if (kind === "code") drive.given.delete(ref);
};
