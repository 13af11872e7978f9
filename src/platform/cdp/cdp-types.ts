/** The types of Chromium's protocol, for those who read its events. */
import type { ProtocolMapping } from "devtools-protocol/types/protocol-mapping.js";

export type { Protocol } from "devtools-protocol";

/** Events by their method: the types of their parameters. */
export type CdpEvents = ProtocolMapping.Events;
