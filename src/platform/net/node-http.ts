/**
 * Node's HTTP, for agents. An `import` of it asks for each of its exports, and some of them load a whole client of HTTP:
 * 28 ms of the processor, more than all else that an agent loads of Node, and 2 MB.
 */
export const { Agent, createServer, request } = process.getBuiltinModule("node:http");
