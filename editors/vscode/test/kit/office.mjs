/** The office that most tests work in: an invoice program, a good MCP server and one that fails. */
import { join } from 'node:path';
import { EXTENSION, PYTHON, REPOSITORY } from './paths.mjs';

export const ACME = { command: PYTHON, args: [join(EXTENSION, 'test/kit/acme.py')] };
export const JIRA = { command: PYTHON, args: [join(REPOSITORY, 'tests/fixtures/mcp_servers/exits.py')] };
export const FILES = { 'invoices.py': 'def overdue(invoices):\n    return []\n' };
export const OFFLINE = { 'caddie.provider': 'offline' };
