// The theme tokens that VS Code would give to the page, for the pages of these tests.

const FONTS = {
  'font-family': 'system-ui, "Ubuntu", "DejaVu Sans", sans-serif',
  ...{ 'font-size': '13px', 'editor-font-family': '"DejaVu Sans Mono", monospace' },
};

const DARK = {
  ...FONTS,
  ...{ foreground: '#cccccc', descriptionForeground: '#9d9d9d', errorForeground: '#f85149', focusBorder: '#0078d4' },
  ...{ 'sideBar-background': '#181818', 'editor-background': '#1f1f1f', 'widget-border': '#313131' },
  ...{ 'editorWidget-background': '#202020', 'widget-shadow': '#0000005c', 'textCodeBlock-background': '#2b2b2b' },
  ...{
    'textLink-foreground': '#4daafc',
    'textLink-activeForeground': '#4daafc',
    'textPreformat-foreground': '#d0d0d0',
  },
  ...{ 'button-background': '#0078d4', 'button-foreground': '#ffffff', 'button-hoverBackground': '#026ec1' },
  ...{ 'button-secondaryBackground': '#313131', 'button-secondaryForeground': '#cccccc' },
  ...{ 'button-secondaryHoverBackground': '#3c3c3c', 'input-background': '#313131', 'input-foreground': '#cccccc' },
  ...{ 'input-border': '#3c3c3c', 'input-placeholderForeground': '#989898', 'icon-foreground': '#cccccc' },
  ...{ 'list-hoverBackground': '#2a2d2e', 'list-activeSelectionBackground': '#04395e' },
  ...{ 'list-activeSelectionForeground': '#ffffff', 'toolbar-hoverBackground': '#5a5d5e50' },
  ...{ 'badge-background': '#616161', 'badge-foreground': '#f8f8f8', 'chat-requestBackground': '#1f1f1f9e' },
  ...{ 'chat-requestBorder': '#ffffff1a', 'editorWarning-foreground': '#cca700', 'charts-green': '#89d185' },
  ...{ 'diffEditor-insertedLineBackground': '#9bb95533', 'diffEditor-removedLineBackground': '#ff000033' },
  ...{ 'debugTokenExpression-name': '#c586c0', 'debugTokenExpression-string': '#ce9178' },
  ...{ 'debugTokenExpression-number': '#b5cea8', 'symbolIcon-functionForeground': '#b180d7' },
  ...{ 'symbolIcon-variableForeground': '#75beff', 'progressBar-background': '#0078d4' },
  ...{ 'gitDecoration-addedResourceForeground': '#81b88b', 'gitDecoration-deletedResourceForeground': '#c74e39' },
};

const LIGHT = {
  ...DARK,
  ...{ foreground: '#3b3b3b', descriptionForeground: '#6a6a6a', errorForeground: '#c72e0f', focusBorder: '#005fb8' },
  ...{ 'sideBar-background': '#f8f8f8', 'editor-background': '#ffffff', 'widget-border': '#e5e5e5' },
  ...{ 'editorWidget-background': '#ffffff', 'widget-shadow': '#00000029', 'textCodeBlock-background': '#f0f0f0' },
  ...{
    'textLink-foreground': '#005fb8',
    'textLink-activeForeground': '#005fb8',
    'textPreformat-foreground': '#3b3b3b',
  },
  ...{ 'button-background': '#005fb8', 'button-hoverBackground': '#0258a8', 'button-secondaryBackground': '#e5e5e5' },
  ...{ 'button-secondaryForeground': '#3b3b3b', 'button-secondaryHoverBackground': '#cccccc' },
  ...{ 'input-background': '#ffffff', 'input-foreground': '#3b3b3b', 'input-border': '#cecece' },
  ...{ 'input-placeholderForeground': '#767676', 'icon-foreground': '#3b3b3b', 'list-hoverBackground': '#f2f2f2' },
  ...{ 'list-activeSelectionBackground': '#e8e8e8', 'list-activeSelectionForeground': '#000000' },
  ...{ 'toolbar-hoverBackground': '#b8b8b850', 'badge-background': '#cccccc', 'badge-foreground': '#3b3b3b' },
  ...{ 'chat-requestBackground': '#ffffff9e', 'chat-requestBorder': '#0000001a', 'charts-green': '#388a34' },
  ...{
    'editorWarning-foreground': '#bf8803',
    'list-warningForeground': '#855f00',
    'debugTokenExpression-name': '#9b46b0',
  },
  ...{ 'debugTokenExpression-string': '#a31515', 'debugTokenExpression-number': '#098658' },
  ...{ 'symbolIcon-functionForeground': '#652d90', 'symbolIcon-variableForeground': '#007acc' },
  ...{ 'progressBar-background': '#005fb8', 'gitDecoration-addedResourceForeground': '#587c0c' },
  ...{ 'gitDecoration-deletedResourceForeground': '#ad0707' },
};

const CONTRAST = {
  ...FONTS,
  ...{ foreground: '#ffffff', descriptionForeground: '#ffffffb3', errorForeground: '#f48771', focusBorder: '#f38518' },
  ...{ contrastBorder: '#6fc3df', contrastActiveBorder: '#f38518', 'sideBar-background': '#000000' },
  ...{ 'editor-background': '#000000', 'editorWidget-background': '#0c141f', 'textCodeBlock-background': '#000000' },
  ...{ 'textLink-foreground': '#21a6ff', 'textLink-activeForeground': '#21a6ff', 'button-foreground': '#ffffff' },
  ...{ 'button-border': '#6fc3df', 'button-secondaryForeground': '#ffffff', 'input-background': '#000000' },
  ...{ 'input-foreground': '#ffffff', 'input-border': '#6fc3df', 'input-placeholderForeground': '#ffffffb3' },
  ...{ 'icon-foreground': '#ffffff', 'badge-background': '#000000', 'badge-foreground': '#ffffff' },
  ...{ 'editorWarning-foreground': '#ffd370', 'charts-green': '#89d185', 'progressBar-background': '#6fc3df' },
  ...{ 'widget-border': '#6fc3df', 'debugTokenExpression-name': '#ffffff', 'debugTokenExpression-string': '#f48771' },
  ...{ 'debugTokenExpression-number': '#89d185', 'textPreformat-foreground': '#ffffff' },
};

export const THEMES = { dark: DARK, light: LIGHT, contrast: CONTRAST };
export type Theme = keyof typeof THEMES;
const BODY = { dark: 'vscode-dark', light: 'vscode-light', contrast: 'vscode-high-contrast' };

export function themed(theme: Theme): { style: string; body: string } {
  const tokens = Object.entries(THEMES[theme]).map(([name, value]) => `--vscode-${name}: ${value};`);
  return {
    style: `:root { ${tokens.join(' ')} } body { background: var(--vscode-sideBar-background); }`,
    body: BODY[theme],
  };
}
