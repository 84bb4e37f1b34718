// Runs before anything is drawn, so that nothing flashes: what was chosen on an
// earlier visit. preferences.js changes it.
{
  const root = document.documentElement;
  const kept = (name) => {
    try {
      return localStorage.getItem(name);
    } catch {
      return null; // a browser that keeps nothing
    }
  };
  const language = kept('language') ?? (navigator.language.startsWith('zh') ? 'zh' : 'en');
  root.lang = language === 'zh' ? 'zh-CN' : 'en';
  root.dataset.theme = ['light', 'dark'].find((theme) => theme === kept('theme')) ?? 'auto';
  root.dataset.type = kept('type') === 'large' ? 'large' : 'normal';
}
