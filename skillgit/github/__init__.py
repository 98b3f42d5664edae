"""skillgit as a GitHub Action: a gate on pull requests, and trainings that end in one."""
