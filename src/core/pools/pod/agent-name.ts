/** The container of the agent in a browser's pod. */
export const agentName = "agent";
