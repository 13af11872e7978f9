/** Browsers of real agents that visit the local internet. */

import { sessionHeader } from "../../src/core/protocol/agent-api.ts";
import { isProofOf, nonceHeader, proofHeader, upgradeTo } from "../../src/core/protocol/agent-proof.ts";
import { createAgentTokens } from "../../src/core/protocol/agent-token.ts";
import type { CdpAddress } from "../../src/platform/cdp/cdp-socket.ts";
import type { TestAgent } from "./agent-process.ts";

/** The session that an agent is bound to. */
export const session = "visit";

/** The variables by which an agent's browser finds the local internet. */
export const internetEnv = ({ address }: { address: string }): Record<string, string> => ({
  BROWSERPOOL_TEST_EXAMPLE_ADDRESS: address,
});

/**
 * The DevTools of an agent's browser as the operator reaches them: with a token, and a proof that the agent has to
 * give.
 */
export const devToolsOf = (agent: TestAgent, key = agent.agentKey, holder = session): CdpAddress => {
  const nonce = "AAAAAAAAAAAAAAAAAAAAAA";
  return {
    url: `${agent.baseUrl.replace("http:", "ws:")}/cdp`,
    headers: {
      authorization: `Bearer ${createAgentTokens(agent.privateKey).tokenFor(agent.podUid)}`,
      [sessionHeader]: holder,
      [nonceHeader]: nonce,
    },
    accepts({ status, headers }) {
      const proof = headers[proofHeader];
      return isProofOf(key, typeof proof === "string" ? proof : undefined, { ...upgradeTo("/cdp"), status, nonce });
    },
  };
};
