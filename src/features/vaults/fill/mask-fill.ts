import { isHeldAtAgent } from "../../../core/leases/agent/held-at-agent.ts";
import type { SetupClient } from "../../../core/leases/agent/setup-client.ts";
import type { AnyLease } from "../../../core/leases/records.ts";
import { totpField } from "../credentials/credential.ts";
import type { ReadyItem } from "../items/open-item.ts";
import { totpCode, totpPeriodMs } from "../logins/rules/totp.ts";
import { FillRefused } from "./fill-result.ts";
import type { FillItem } from "./fill-wire.ts";

const valuesOf = ({ fields }: FillItem, { login }: ReadyItem): string[] => {
  const { values, totpSecret } = login;
  const typed = fields.flatMap(({ field }) => values.get(field)?.reveal() ?? []);
  if (!totpSecret || !fields.some(({ field }) => field === totpField)) return typed;
  // The code is made when it is written, which may be in the next period.
  const codes = [0, totpPeriodMs].flatMap((ms) => totpCode(totpSecret.reveal(), Date.now() + ms)?.code ?? []);
  return [...typed, ...codes];
};

/**
 * Has the agent keep what is about to be typed out of all telemetry (TELEMETRY-17). Throws `browser_not_ready` unless it says so for this
 * very lease, whatever else it answers: then nothing may be typed.
 */
export const maskFill = async (
  lease: AnyLease,
  request: FillItem,
  open: ReadyItem,
  { setupClient }: { setupClient: SetupClient },
): Promise<void> => {
  const { session: session_id, epoch, seq } = lease;
  const answer = await setupClient.sendMasks(lease, { session_id, epoch, seq, values: valuesOf(request, open) });
  if (answer.kind !== "ok" || !isHeldAtAgent(lease, answer.state)) throw new FillRefused("browser_not_ready");
};
