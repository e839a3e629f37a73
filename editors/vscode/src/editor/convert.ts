/** The editor's objects as they travel: paths, and lines and columns that count from 1. */
import * as vscode from 'vscode';
import type { Diagnostic, Place, Symbol as WireSymbol } from '../protocol';

export const SEVERITIES: readonly Diagnostic['severity'][] = ['error', 'warning', 'information', 'hint'];

export function place(uri: vscode.Uri, range: vscode.Range): Place {
  return {
    path: uri.scheme === 'file' ? uri.fsPath : uri.toString(),
    line: range.start.line + 1,
    column: range.start.character + 1,
    endLine: range.end.line + 1,
    endColumn: range.end.character + 1,
  };
}

export function diagnostic(uri: vscode.Uri, one: vscode.Diagnostic): Diagnostic {
  const code = typeof one.code === 'object' ? one.code.value : one.code;
  return {
    place: place(uri, one.range),
    severity: SEVERITIES[one.severity] ?? 'information',
    message: one.message,
    ...(one.source ? { source: one.source } : {}),
    ...(code === undefined ? {} : { code: String(code) }),
  };
}

export function location(found: vscode.Location | vscode.LocationLink): Place {
  if ('targetUri' in found) return place(found.targetUri, found.targetSelectionRange ?? found.targetRange);
  return place(found.uri, found.range);
}

export function symbolInformation(found: vscode.SymbolInformation): WireSymbol {
  return {
    name: found.name,
    kind: kindOf(found.kind),
    ...(found.containerName ? { container: found.containerName } : {}),
    place: location(found.location),
  };
}

export function symbol(
  uri: vscode.Uri,
  found: vscode.DocumentSymbol | vscode.SymbolInformation,
  container = '',
): WireSymbol[] {
  if ('location' in found) return [symbolInformation(found)];
  const mine: WireSymbol = {
    name: found.name,
    kind: kindOf(found.kind),
    ...(container ? { container } : {}),
    place: place(uri, found.selectionRange),
  };
  return [mine, ...found.children.flatMap((child) => symbol(uri, child, found.name))];
}

function kindOf(kind: vscode.SymbolKind): string {
  return (vscode.SymbolKind[kind] ?? 'symbol').toLowerCase();
}

export function markdownText(content: vscode.MarkdownString | vscode.MarkedString): string {
  return typeof content === 'string' ? content : content.value;
}
