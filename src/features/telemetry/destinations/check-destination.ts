import type { NetworkJudge } from "../../../platform/addresses/network-judge.ts";
import { invalidInput } from "../../../platform/base/errors.ts";
import { joinPath } from "../../../platform/kinds/wire.ts";
import type { SpecProblem } from "../../../platform/rules/problem.ts";
import { looksSealed } from "../../../platform/secrets/sealing.ts";
import type { DestinationHeaders } from "./destination-secret.ts";
import { destinationProblems } from "./rules/destination-problems.ts";
import { maxHeaderBytes, maxHeaders, type TelemetryDestinationSpec } from "./telemetry-destination.ts";

/** A place of a spec as requests write it. */
const wirePlace = ({ path: [first = "", ...rest], message }: SpecProblem) => ({
  path: first === "headerNames" ? "headers" : joinPath([first, ...rest]),
  message,
});

/** Throws `bad_request` for a destination that can't be one. No message quotes a header's value. */
export const checkDestination = (
  spec: TelemetryDestinationSpec,
  headers: DestinationHeaders,
  { destinationJudge }: { destinationJudge: NetworkJudge },
): void => {
  const problems = destinationProblems(spec, destinationJudge).map(wirePlace);
  const texts = [...headers].map(([name, value]) => [name, value.reveal()] as const);
  const bytes = texts.reduce((sum, [name, text]) => sum + name.length + text.length, 0);
  if (headers.size > maxHeaders) problems.push({ path: "headers", message: `at most ${maxHeaders} headers` });
  if (bytes > maxHeaderBytes)
    problems.push({ path: "headers", message: `at most ${maxHeaderBytes} bytes of names and values together` });
  for (const [name, text] of texts)
    if (looksSealed(text)) problems.push({ path: `headers.${name}`, message: "begins like an encrypted value" });
  if (problems.length > 0) throw invalidInput(problems);
};
