/** The page's frame: what it may load and run is said here, and nothing else. Pure. */

export interface Frame {
  script: string;
  style: string;
  /** Where the extension's own files come from. */
  source: string;
  nonce: string;
  language: string;
  /** English -> the person's language. */
  words?: Record<string, string>;
}

export function pageHtml({ script, style, source, nonce, language, words = {} }: Frame): string {
  const policy = [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    // Heights are set from the script, which is no inline style in the sense of the policy.
    `style-src ${source}`,
    `font-src ${source}`,
    // Pictures that the person has put beside a message.
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return `<!DOCTYPE html>
<html lang="${escaped(language)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escaped(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="${escaped(style)}">
<title>Caddie</title>
</head>
<body>
<div id="root" data-words="${escaped(JSON.stringify(words))}"></div>
<script nonce="${nonce}" src="${escaped(script)}"></script>
</body>
</html>`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
